import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Save, Send, Trash2 } from 'lucide-react'
import { type FormEvent, useEffect, useMemo, useState } from 'react'
import { api, ask } from '../../api/client'
import { ProblemError } from '../../api/problem'
import { useMayAct } from '../../shell/session'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Confirm } from '../../ui/dialog'
import { TextField } from '../../ui/field'
import { PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'
import { say } from '../../ui/toasts'
import { UnsavedGuard } from '../../ui/unsaved'
import { ContentFields } from './content-fields'
import { SAMPLE, toRequest, withValuesFor } from './filling'
import { FillingChoice } from './filling-choice'
import { PreviewView } from './preview-view'
import { type Content, contentOf, type Template, templateQuery, toBody } from './template-queries'
import { TestSendDialog } from './test-send'
import { usePreview } from './use-preview'
import { VersionsPanel } from './versions-panel'

const FIRST: Content = {
  subject: 'Hello {{ contact.name | default: "you" }}',
  html: '<p>Hello {{ contact.name | default: "you" }},</p>\n<p>…</p>\n<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p>\n',
  text: '',
}

export const NewTemplate = () => <Editor template={null} />

export function EditTemplate() {
  const { id } = useParams({ strict: false }) as { id: string }
  return (
    <QueryView query={useQuery(templateQuery(id))}>
      {(template) => <Editor key={template.id} template={template} />}
    </QueryView>
  )
}

function Editor({ template }: { readonly template: Template | null }) {
  const mayAct = useMayAct()
  const client = useQueryClient()
  const navigate = useNavigate()
  // What it was when this began: whoever saves meanwhile is not overwritten unseen.
  const [base, setBase] = useState(template)
  const [name, setName] = useState(template?.name ?? '')
  const [content, setContent] = useState(() => (template ? contentOf(template) : FIRST))
  const [filling, setFilling] = useState(SAMPLE)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [leftFor, setLeftFor] = useState<string | null>(null)
  const [dialog, setDialog] = useState<'test' | 'remove' | null>(null)
  const request = useMemo(() => toRequest(filling), [filling])
  const state = usePreview(content, request)

  useEffect(() => {
    if (leftFor !== null) void navigate({ to: leftFor, replace: true })
  }, [leftFor, navigate])

  const before = base ? contentOf(base) : FIRST
  const dirty =
    leftFor === null &&
    (name !== (base?.name ?? '') ||
      (['subject', 'html', 'text'] as const).some((part) => content[part] !== before[part]))
  const newer = template && base && template.version > base.version ? template.version : null

  const take = (saved: Template) => {
    setBase(saved)
    setName(saved.name)
    setContent(contentOf(saved))
    client.setQueryData(templateQuery(saved.id).queryKey, saved)
  }
  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    try {
      const body = { name, ...toBody(content) }
      const saved = base
        ? await ask(api.PATCH('/api/templates/{id}', { params: { path: { id: base.id } }, body }))
        : await ask(api.POST('/api/templates', { body }))
      take(saved)
      void client.invalidateQueries({ queryKey: ['templates'] })
      say(base && saved.version === base.version ? 'Saved' : `Saved as version ${saved.version}`)
      if (!base) setLeftFor(`/templates/${saved.id}`)
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  const sendTest = async (to: string) => {
    const { subject, html, text } = state.preview!
    const parts = { ...(html !== null && { html }), ...(text !== null && { text }) }
    return (await ask(api.POST('/api/emails', { body: { to, subject: `[Test] ${subject}`, ...parts } }))).id
  }
  const remove = async () => {
    await ask(api.DELETE('/api/templates/{id}', { params: { path: { id: base!.id } } }))
    say(`${base!.name} is gone`)
    client.removeQueries({ queryKey: templateQuery(base!.id).queryKey })
    void client.invalidateQueries({ queryKey: ['templates'] })
    setLeftFor('/templates')
  }
  const nameError = error instanceof ProblemError ? error.about('/name') : undefined

  return (
    <>
      <UnsavedGuard dirty={dirty} what="this template" />
      <form onSubmit={(event) => void save(event)}>
        <PageHead
          title={base ? base.name : 'New template'}
          lead={
            base && (
              <span className="flex flex-wrap items-center gap-2">
                <Badge>version {base.version}</Badge>
                <span>
                  changed <Time at={base.updated_at} />
                </span>
                {dirty && <Badge mood="warn">not saved</Badge>}
              </span>
            )
          }
          actions={
            mayAct && (
              <>
                {base && (
                  <Button tone="danger" icon={<Trash2 />} onClick={() => setDialog('remove')}>
                    Delete
                  </Button>
                )}
                <Button icon={<Send />} disabled={!state.preview} onClick={() => setDialog('test')}>
                  Send a test
                </Button>
                <Button type="submit" tone="primary" icon={<Save />} busy={busy} disabled={base !== null && !dirty}>
                  {base ? 'Save' : 'Make the template'}
                </Button>
              </>
            )
          }
        />
        {newer !== null && (
          <p role="status" className="mb-4 flex flex-wrap items-center gap-3 rounded-lg bg-warn-soft p-3 text-sm">
            Somebody saved version {newer} since you began. Saving yours makes another on top of it.
            <Button small onClick={() => take(template!)}>
              Show version {newer} instead
            </Button>
          </p>
        )}
        {error !== null && nameError === undefined && (
          <div className="mb-4">
            <ProblemNote error={error} />
          </div>
        )}
        <div className="grid items-start gap-5 lg:grid-cols-2">
          <div className="flex min-w-0 flex-col gap-5">
            <Panel>
              <div className="flex flex-col gap-4">
                <TextField
                  label="Name"
                  hint="For you; nobody else sees it."
                  value={name}
                  required
                  readOnly={!mayAct}
                  error={nameError}
                  onChange={(event) => setName(event.target.value)}
                />
                <ContentFields
                  content={content}
                  onChange={setContent}
                  marks={state.marks}
                  person={filling.kind === 'contact' ? filling.person : null}
                  readOnly={!mayAct}
                />
              </div>
            </Panel>
            {base && <VersionsPanel template={base} filling={request} onRestored={take} />}
          </div>
          <div className="min-w-0 lg:sticky lg:top-5">
            <Panel title="Preview">
              <div className="flex flex-col gap-4">
                <FillingChoice filling={filling} onChange={setFilling} />
                <PreviewView
                  state={state}
                  missing={
                    filling.kind === 'sample' && (
                      <Button
                        small
                        className="mt-2"
                        onClick={() =>
                          setFilling({ ...filling, json: withValuesFor(filling.json, state.preview?.missing ?? []) })
                        }
                      >
                        Add to the sample data
                      </Button>
                    )
                  }
                />
              </div>
            </Panel>
          </div>
        </div>
      </form>
      <TestSendDialog
        open={dialog === 'test'}
        onClose={() => setDialog(null)}
        lead="What the preview shows, as a single email of the default sender. [Test] stands before its subject."
        send={sendTest}
      />
      <Confirm
        open={dialog === 'remove'}
        onClose={() => setDialog(null)}
        title={`Delete ${base?.name}?`}
        lead={`With all its versions, for good. It is refused while a campaign or a sequence needs it.`}
        action="Delete the template"
        tone="danger"
        run={remove}
      />
    </>
  )
}
