import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Code } from '../../ui/code'
import { Empty } from '../../ui/empty'
import { TextField } from '../../ui/field'
import { PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { QueryView } from '../../ui/query-view'
import { Tabs } from '../../ui/tabs'
import { say } from '../../ui/toasts'
import { UnsavedGuard } from '../../ui/unsaved'
import { useDebounced } from '../../ui/use-debounced'
import { GraphEditor } from './graph-editor'
import { templateChoices } from '../templates/template-queries'
import { type Node, type Sequence, sequenceQuery } from './sequence-queries'
import { isChain, StepsEditor } from './steps-editor'

export function NewSequence() {
  const templates = useQuery(templateChoices)
  return (
    <QueryView query={templates}>
      {([first]) =>
        first ? (
          <Editor nodes={[{ id: 'step-1', type: 'send', template: first.id }]} start="step-1" name="" />
        ) : (
          <>
            <PageHead title="New sequence" />
            <Panel>
              <Empty
                title="A template comes first"
                command="npx postrider templates create Welcome --subject 'Hello {{ contact.name }}' --html welcome.html"
              >
                Every email of a sequence is made from a template.{' '}
                <Link to="/templates/new" className="underline underline-offset-2">
                  Write one
                </Link>
              </Empty>
            </Panel>
          </>
        )
      }
    </QueryView>
  )
}

export function EditSequence() {
  const { id } = useParams({ strict: false }) as { id: string }
  return (
    <QueryView query={useQuery({ ...sequenceQuery(id), staleTime: Number.POSITIVE_INFINITY })}>
      {(sequence) => <Editor key={sequence.version} {...sequence} sequence={sequence} />}
    </QueryView>
  )
}

interface Draft {
  readonly start: string
  readonly nodes: readonly Node[]
}

function Editor({ sequence, name: given, ...before }: { readonly sequence?: Sequence; readonly name: string } & Draft) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const [name, setName] = useState(given)
  const [draft, setDraft] = useState<Draft>({ start: before.start, nodes: before.nodes })
  const [saved, setSaved] = useState(false)
  const templates = useQuery(templateChoices).data ?? []
  const body = { name, start: draft.start, nodes: draft.nodes }
  const asked = useDebounced(body)
  const check = useQuery({
    queryKey: ['sequences', 'check', asked],
    queryFn: () =>
      ask(api.POST('/api/sequences/validate', { body: { ...asked, ...(asked.name === '' && { name: 'draft' }) } })),
    placeholderData: (previous) => previous,
  })
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: () => {
      const written = { name, start: draft.start, nodes: draft.nodes as unknown[] }
      return ask(
        sequence
          ? api.PATCH('/api/sequences/{id}', { params: { path: { id: sequence.id } }, body: written as never })
          : api.POST('/api/sequences', { body: written as never }),
      )
    },
    async onSuccess({ id, version }) {
      setSaved(true)
      say(`Saved as version ${version}.`)
      await client.invalidateQueries({ queryKey: ['sequences'] })
      await navigate({ to: '/sequences/$id', params: { id } })
    },
  })
  const problems = check.data?.problems ?? []
  const isDirty = !saved && (name !== given || draft.nodes !== before.nodes || draft.start !== before.start)
  const editing = { draft, setDraft, templates, problems }
  return (
    <>
      <UnsavedGuard dirty={isDirty} what="this sequence" />
      <PageHead
        title={sequence ? `Edit ${given}` : 'New sequence'}
        lead={
          sequence
            ? 'Saving makes a new version. Who walks it now goes on with theirs.'
            : 'What one person gets over time.'
        }
        actions={
          <>
            <Badge mood={problems.length === 0 ? 'good' : 'bad'}>
              {check.isPending
                ? 'checking'
                : problems.length === 0
                  ? 'can be walked'
                  : `${problems.length} to put right`}
            </Badge>
            <Button tone="primary" busy={save.isPending} disabled={name.trim() === ''} onClick={() => save.mutate()}>
              Save
            </Button>
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <Panel>
          <TextField
            label="Name"
            value={name}
            placeholder="Onboarding"
            onChange={(event) => setName(event.target.value)}
          />
        </Panel>
        {save.isError && <ProblemNote error={save.error} />}
        <Panel flush>
          <Tabs
            label="How to edit"
            tabs={[
              ...(isChain(draft) ? [{ id: 'steps', label: 'As steps', content: <StepsEditor {...editing} /> }] : []),
              { id: 'graph', label: 'As a graph', content: <GraphEditor {...editing} /> },
              {
                id: 'json',
                label: 'As JSON',
                content: <Code tall text={JSON.stringify({ name, ...draft }, null, 2)} />,
              },
            ]}
          />
        </Panel>
        {problems.length > 0 && (
          <Panel title="To put right">
            <ul className="flex flex-col gap-1 text-sm">
              {problems.map(({ pointer, detail }) => (
                <li key={`${pointer} ${detail}`}>
                  <code className="font-mono text-xs text-soft">{namePlace(pointer, draft.nodes)}</code> {detail}
                </li>
              ))}
            </ul>
          </Panel>
        )}
      </div>
    </>
  )
}

/** Where a problem is, by the name of its node: `/nodes/1/delay` is `step-2/delay`. */
function namePlace(pointer: string, nodes: readonly Node[]): string {
  const [, index, rest] = /^\/nodes\/(\d+)(.*)$/.exec(pointer) ?? []
  const node = nodes[Number(index)]
  return node ? `${node.id}${rest}` : pointer
}
