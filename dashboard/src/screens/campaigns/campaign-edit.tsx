import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Save } from 'lucide-react'
import { type FormEvent, useEffect, useState } from 'react'
import { api, ask } from '../../api/client'
import { ProblemError } from '../../api/problem'
import { useMayAct } from '../../shell/session'
import { Button } from '../../ui/button'
import { Empty } from '../../ui/empty'
import { PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { QueryView } from '../../ui/query-view'
import { Choice } from '../../ui/field'
import { say } from '../../ui/toasts'
import { UnsavedGuard } from '../../ui/unsaved'
import { ContactChoice, type Person } from '../templates/contact-choice'
import { PreviewView } from '../templates/preview-view'
import { toBody as toTemplate } from '../templates/template-queries'
import { usePreview } from '../templates/use-preview'
import { type Draft, draftOf, EMPTY, toBody } from './campaign-draft'
import { useContentOf, useFilling, useSurroundings } from './campaign-preview'
import { type Campaign, campaignQuery } from './campaign-queries'
import { ContentPanel, WhatPanel, WhenPanel, WhomPanel } from './draft-fields'

export const NewCampaign = () => <Editor campaign={null} />

export function EditCampaign() {
  const { id } = useParams({ strict: false }) as { id: string }
  return (
    <QueryView query={useQuery(campaignQuery(id))}>
      {(campaign) =>
        campaign.status === 'draft' ? (
          <Editor key={campaign.id} campaign={campaign} />
        ) : (
          <Empty title={`${campaign.name} was launched`}>
            Only a draft can be changed.{' '}
            <Link to="/campaigns/$id" params={{ id }} className="underline">
              See how far it is
            </Link>
          </Empty>
        )
      }
    </QueryView>
  )
}

/** Fields whose problems are said beside them; the others are said above. */
const PLACED =
  /^\/(?:name|list_id|template_id|sequence_id|sender_ids?|reply_to|batch_size|hourly_limit|scheduled_at|expires_at|follow_pace)(?:\/|$)/

function Editor({ campaign }: { readonly campaign: Campaign | null }) {
  const mayAct = useMayAct()
  const client = useQueryClient()
  const navigate = useNavigate()
  const [before] = useState<Draft>(() => (campaign ? draftOf(campaign) : EMPTY))
  const [draft, setDraft] = useState(before)
  const [person, setPerson] = useState<Person | null>(null)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [savedAs, setSavedAs] = useState<string | null>(null)
  const set = (change: Partial<Draft>) => setDraft((known) => ({ ...known, ...change }))

  useEffect(() => {
    if (savedAs !== null) void navigate({ to: '/campaigns/$id', params: { id: savedAs }, replace: true })
  }, [savedAs, navigate])

  const bulk = draft.kind === 'bulk'
  const chosen = useContentOf({
    template_id: bulk && draft.templateId ? draft.templateId : null,
    template_version: null,
    sequence_id: !bulk && draft.sequenceId ? draft.sequenceId : null,
    sequence_version: null,
  })
  const isOwn = bulk && draft.templateId === null
  const content = isOwn ? draft.own : chosen.content
  const surroundings = useSurroundings({
    name: draft.name,
    list_id: draft.listId,
    sender_id: draft.senderIds[0] ?? null,
  })
  const filling = useFilling(person, surroundings)
  const state = usePreview(content, filling)

  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      let wanted = draft
      if (isOwn) {
        const body = { ...toTemplate(draft.own), name: draft.own.name.trim() || draft.name }
        const { id } = await ask(api.POST('/api/templates', { body }))
        // Kept, whatever becomes of the rest: saved once more, it is not made once more.
        wanted = { ...draft, templateId: id }
        setDraft(wanted)
        void client.invalidateQueries({ queryKey: ['templates'] })
      }
      const body = toBody(wanted)
      const saved = campaign
        ? await ask(api.PATCH('/api/campaigns/{id}', { params: { path: { id: campaign.id } }, body }))
        : await ask(api.POST('/api/campaigns', { body }))
      await client.invalidateQueries({ queryKey: ['campaigns'] })
      say('The draft is saved')
      setSavedAs(saved.id)
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }

  if (!mayAct)
    return <Empty title="Only an operator can do this">You can look at everything, and change nothing.</Empty>
  const about = (pointer: string) => (error instanceof ProblemError ? error.about(pointer) : undefined)
  const isPlaced =
    error instanceof ProblemError &&
    (error.problem.errors?.length ?? 0) > 0 &&
    error.problem.errors!.every(({ pointer }) => PLACED.test(pointer)) &&
    error.problem.code !== 'template_invalid'
  const fields = { draft, set, about }
  return (
    <>
      <UnsavedGuard dirty={savedAs === null && JSON.stringify(draft) !== JSON.stringify(before)} what="this draft" />
      <form onSubmit={(event) => void save(event)}>
        <PageHead
          title={campaign ? `Edit ${campaign.name}` : 'New campaign'}
          lead="A draft: nothing goes out before it is launched."
          actions={
            <>
              <Button
                onClick={() =>
                  void (campaign
                    ? navigate({ to: '/campaigns/$id', params: { id: campaign.id } })
                    : navigate({ to: '/campaigns' }))
                }
              >
                Back
              </Button>
              <Button type="submit" tone="primary" icon={<Save />} busy={busy}>
                Save the draft
              </Button>
            </>
          }
        />
        {error !== null && !isPlaced && (
          <div className="mb-4">
            <ProblemNote error={error} />
          </div>
        )}
        {isPlaced && (
          <p role="alert" className="mb-4 rounded-lg bg-bad-soft p-3 text-sm text-bad">
            It is not saved: something has to be mended first, see below.
          </p>
        )}
        <div className="grid items-start gap-5 lg:grid-cols-2">
          <div className="flex min-w-0 flex-col gap-5">
            <WhatPanel {...fields} />
            <WhomPanel {...fields} />
            <ContentPanel {...fields} marks={state.marks} person={person} />
            <WhenPanel {...fields} />
            <Button type="submit" tone="primary" icon={<Save />} busy={busy} className="lg:hidden">
              Save the draft
            </Button>
          </div>
          <div className="min-w-0 lg:sticky lg:top-5">
            <Panel title="Preview">
              <div className="flex flex-col gap-4">
                {chosen.steps.length > 1 && (
                  <Choice
                    label="Email"
                    value={chosen.step?.id ?? ''}
                    onChange={(event) => chosen.chooseStep(event.target.value)}
                  >
                    {chosen.steps.map(({ id }, index) => (
                      <option key={id} value={id}>
                        {index + 1}. {id}
                      </option>
                    ))}
                  </Choice>
                )}
                <ContactChoice
                  listId={draft.listId || null}
                  none="Nobody yet: made-up data"
                  value={person}
                  onChange={setPerson}
                />
                {content === null ? (
                  <p className="text-sm text-soft">Choose what they get, and it is shown here as they get it.</p>
                ) : (
                  <PreviewView state={state} />
                )}
              </div>
            </Panel>
          </div>
        </div>
      </form>
    </>
  )
}
