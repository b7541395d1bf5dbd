import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { api, ask } from '../../api/client'
import { Choice } from '../../ui/field'
import { Panel } from '../../ui/panel'
import { ContactChoice, type Person } from '../templates/contact-choice'
import type { FillingRequest } from '../templates/filling'
import { PreviewView } from '../templates/preview-view'
import { type Content, contentOf } from '../templates/template-queries'
import { usePreview } from '../templates/use-preview'
import { type Campaign, listQuery, senderChoices } from './campaign-queries'

/** What a campaign is shown with beside its contact, as it will be when it goes out. */
export function useSurroundings(of: Pick<Campaign, 'list_id' | 'name'> & { readonly sender_id: string | null }) {
  const { data: list } = useQuery({ ...listQuery(of.list_id), enabled: of.list_id !== '' })
  const { data: senders } = useQuery(senderChoices)
  const sender = senders?.find(({ id, is_default: isDefault }) =>
    of.sender_id === null ? isDefault : id === of.sender_id,
  )
  return useMemo(
    () => ({
      list: { name: list?.name ?? '' },
      campaign: { name: of.name },
      sender: { name: sender?.name ?? null, email: sender?.address ?? '' },
    }),
    [list?.name, of.name, sender?.name, sender?.address],
  )
}

const MADE_UP = { name: 'Ada Lovelace', email: 'ada@example.com' }

/** Somebody who exists; as long as there is nobody, somebody who does not. */
export const useFilling = (person: Person | null, surroundings: FillingRequest['data']): FillingRequest =>
  useMemo(
    () => (person ? { data: surroundings, contact_id: person.id } : { data: { ...surroundings, contact: MADE_UP } }),
    [person, surroundings],
  )

/** Of a template at a version, or of the emails of a sequence. */
export function useContentOf({
  template_id: templateId,
  template_version: version,
  sequence_id: sequenceId,
  sequence_version: sequenceVersion,
}: Pick<Campaign, 'template_id' | 'template_version' | 'sequence_id' | 'sequence_version'>) {
  const [node, setNode] = useState('')
  const { data: sequence } = useQuery({
    queryKey: ['sequences', sequenceId, 'sends', sequenceVersion],
    enabled: sequenceId !== null,
    queryFn: async () => {
      const id = sequenceId ?? ''
      const { nodes } =
        sequenceVersion === null
          ? await ask(api.GET('/api/sequences/{id}', { params: { path: { id } } }))
          : await ask(
              api.GET('/api/sequences/{id}/versions/{version}', {
                params: { path: { id, version: String(sequenceVersion) } },
              }),
            )
      return nodes.flatMap((one) => (one.type === 'send' ? [one] : []))
    },
  })
  const step = sequence?.find(({ id }) => id === node) ?? sequence?.[0]
  const wanted = templateId ?? step?.template
  const { data: template } = useQuery({
    queryKey: ['templates', wanted, 'content', version],
    enabled: wanted !== undefined,
    queryFn: async () => {
      const path = { id: wanted! }
      const found =
        version === null
          ? await ask(api.GET('/api/templates/{id}', { params: { path } }))
          : await ask(
              api.GET('/api/templates/{id}/versions/{version}', {
                params: { path: { ...path, version: String(version) } },
              }),
            )
      return contentOf(found)
    },
  })
  const content = useMemo<Content | null>(
    () => (template ? { ...template, ...(step?.subject !== undefined && { subject: step.subject }) } : null),
    [template, step?.subject],
  )
  return { content, steps: sequence ?? [], step, chooseStep: setNode }
}

/** The email as somebody on the list gets it. */
export function CampaignPreview({ campaign }: { readonly campaign: Campaign }) {
  const [person, setPerson] = useState<Person | null>(null)
  const surroundings = useSurroundings(campaign)
  const { content, steps, step, chooseStep } = useContentOf(campaign)
  const filling = useFilling(person, surroundings)
  const state = usePreview(content, filling)
  return (
    <Panel title="Preview">
      <div className="flex flex-col gap-4">
        {steps.length > 1 && (
          <Choice label="Email" value={step?.id ?? ''} onChange={(event) => chooseStep(event.target.value)}>
            {steps.map(({ id }, index) => (
              <option key={id} value={id}>
                {index + 1}. {id}
              </option>
            ))}
          </Choice>
        )}
        <ContactChoice listId={campaign.list_id} none="Nobody yet: made-up data" value={person} onChange={setPerson} />
        <PreviewView state={state} />
      </div>
    </Panel>
  )
}
