import { queryOptions } from '@tanstack/react-query'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import type { Shape } from '../../api/types'
import { describeCondition } from './condition-words'

export type Node = Shape<'SequenceNode'>
export type NodeType = Node['type']
export type Delay = Shape<'SequenceDelay'>
export type Sequence = Shape<'Sequence'>

export const sequenceQuery = (id: string) =>
  queryOptions({
    queryKey: ['sequences', id],
    queryFn: () => ask(api.GET('/api/sequences/{id}', { params: { path: { id } } })),
  })

/** The campaigns that walk people through this sequence. */
export const campaignsOfQuery = (sequenceId: string) =>
  queryOptions({
    queryKey: ['campaigns', 'of', sequenceId],
    queryFn: () =>
      readAll((page) => ask(api.GET('/api/campaigns', { params: { query: { ...page, sequence_id: sequenceId } } }))),
  })

export const describeDelay = ({ days = 0, hours = 0, minutes = 0 }: Delay): string => {
  const parts = [
    days > 0 && `${days} ${days === 1 ? 'day' : 'days'}`,
    hours > 0 && `${hours} h`,
    minutes > 0 && `${minutes} min`,
  ].filter(Boolean)
  return parts.length === 0 ? 'at once' : parts.join(' ')
}

/** Where a node leads, and when. Null is the end. */
export function exitsOf(
  node: Node,
): readonly { readonly label: string; readonly field: string; readonly to: string | null }[] {
  switch (node.type) {
    case 'send':
    case 'wait':
      return [{ label: '', field: 'next', to: node.next ?? null }]
    case 'wait_for':
      return [
        { label: node.event, field: 'on_event', to: node.on_event ?? null },
        { label: `after ${describeDelay(node.timeout)}`, field: 'on_timeout', to: node.on_timeout ?? null },
      ]
    case 'branch':
      return [
        { label: 'yes', field: 'then', to: node.then ?? null },
        { label: 'no', field: 'else', to: node.else ?? null },
      ]
    case 'stop':
      return []
  }
}

/** What a node does, in a few words. */
export function describeNode(node: Node, templateName: (id: string) => string): string {
  switch (node.type) {
    case 'send':
      return `${node.delay && describeDelay(node.delay) !== 'at once' ? `${describeDelay(node.delay)} later: ` : ''}${node.subject ?? templateName(node.template)}`
    case 'wait':
      return describeDelay(node.duration)
    case 'wait_for':
      return `“${node.event}”, at most ${describeDelay(node.timeout)}`
    case 'branch':
      return describeCondition(node.if)
    case 'stop':
      return 'the end'
  }
}
