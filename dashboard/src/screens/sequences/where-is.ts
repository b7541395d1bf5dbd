import type { Entry } from '../../api/types'

type Next = Pick<NonNullable<Entry<'/api/enrollments'>['next']>, 'node' | 'status'>

/** Where in its sequence somebody is, in words: at the email that comes next, or at what they wait for without one. */
export const whereIs = ({
  state,
  position,
  next,
}: Pick<Entry<'/api/enrollments'>, 'state' | 'position'> & { readonly next: Next | null }): string => {
  if (next?.status === 'failed') return `${next.node} failed`
  if (next?.status === 'uncertain') return `${next.node} is uncertain`
  if (next) return `before ${next.node}`
  if (position.node !== null) return position.arrived ? `at ${position.node}` : `on the way to ${position.node}`
  if (state === 'stopped') return '—'
  return state === 'completed' ? 'the end' : 'after the last email'
}
