import { useInfiniteQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { apiUrl } from '../../api/client'
import { useMayAct } from '../../shell/session'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { type Column, DataTable } from '../../ui/data-table'
import { Empty } from '../../ui/empty'
import { TextField } from '../../ui/field'
import { PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { Loading } from '../../ui/spinner'
import { Time } from '../../ui/time'
import { type Template, templatePages } from './template-queries'

const COLUMNS: readonly Column<Template>[] = [
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(0,2fr)',
    cell: ({ id, name }) => (
      <Link to="/templates/$id" params={{ id }} className="font-medium hover:underline">
        {name}
      </Link>
    ),
  },
  {
    id: 'subject',
    head: 'Subject',
    width: 'minmax(0,3fr)',
    from: 'md',
    cell: ({ subject }) => <span className="text-soft">{subject}</span>,
  },
  {
    id: 'parts',
    head: 'Parts',
    width: '8rem',
    from: 'lg',
    cell: ({ html, text }) => (
      <span className="flex gap-1">
        {html !== null && <Badge>html</Badge>}
        {text !== null && <Badge>text</Badge>}
      </span>
    ),
  },
  { id: 'version', head: 'Version', width: '5rem', from: 'sm', align: 'right', cell: ({ version }) => version },
  { id: 'changed', head: 'Changed', width: '10.5rem', cell: ({ updated_at: at }) => <Time at={at} /> },
]

export function TemplateList() {
  const mayAct = useMayAct()
  const navigate = useNavigate()
  const [q, setQ] = useState('')
  const query = useInfiniteQuery(templatePages)
  const all = query.data?.pages.flatMap(({ data }) => data) ?? []
  const wanted = q.trim().toLowerCase()
  const rows = all.filter(({ name, subject }) => `${name}\n${subject}`.toLowerCase().includes(wanted))
  const make = mayAct && (
    <Button tone="primary" icon={<Plus />} onClick={() => void navigate({ to: '/templates/new' })}>
      New template
    </Button>
  )
  return (
    <>
      <PageHead
        title="Templates"
        lead="What campaigns and sequences send. Every change makes a new version; what is under way keeps its own."
        actions={make}
      />
      {query.isError && <ProblemNote error={query.error} retry={() => void query.refetch()} />}
      {query.isPending && <Loading />}
      {query.data && (
        <Panel flush>
          {all.length > 0 && (
            <div className="max-w-sm p-3">
              <TextField
                label="Find a template"
                hideLabel
                type="search"
                placeholder="Part of a name or a subject"
                value={q}
                onChange={(event) => setQ(event.target.value)}
              />
            </div>
          )}
          <DataTable
            label="Templates"
            rows={rows}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            more={{
              hasMore: query.hasNextPage,
              loading: query.isFetchingNextPage,
              load: () => void query.fetchNextPage(),
            }}
            empty={
              all.length > 0 ? (
                <Empty title={`Nothing is called ${JSON.stringify(q)}`}>
                  {query.hasNextPage && (
                    <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
                      Look further
                    </Button>
                  )}
                </Empty>
              ) : (
                <Empty title="No template yet" command={makeCommand()} actions={make}>
                  A template is a subject, html and text in Liquid: <code>{'{{ contact.name }}'}</code> stands for
                  whoever it goes to.
                </Empty>
              )
            }
          />
        </Panel>
      )}
    </>
  )
}

const makeCommand = () => `curl -X POST ${location.origin}${apiUrl('/api/templates')} \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"name": "Welcome", "subject": "Hello {{ contact.name }}", "html": "<p>Hello {{ contact.name }}.</p>"}'`
