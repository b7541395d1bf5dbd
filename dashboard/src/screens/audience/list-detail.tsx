import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Download, Trash2, Upload } from 'lucide-react'
import { useState } from 'react'
import { api, apiUrl, ask } from '../../api/client'
import type { Entry } from '../../api/types'
import { useMayAct } from '../../shell/session'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { type Column, DataTable } from '../../ui/data-table'
import { Confirm } from '../../ui/dialog'
import { Empty } from '../../ui/empty'
import { Choice } from '../../ui/field'
import { PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { QueryView } from '../../ui/query-view'
import { Loading } from '../../ui/spinner'
import { Time } from '../../ui/time'
import { ImportFile } from './import-file'
import { RecentImports } from './recent-imports'
import { showNumber } from '../../ui/number'

type Member = Entry<'/api/lists/{id}/contacts'>

export function ListDetail() {
  const { id } = useParams({ strict: false }) as { id: string }
  const client = useQueryClient()
  const navigate = useNavigate()
  const mayAct = useMayAct()
  const [asked, setAsked] = useState<'import' | 'remove' | null>(null)
  const list = useQuery({
    queryKey: ['lists', id],
    queryFn: () => ask(api.GET('/api/lists/{id}', { params: { path: { id } } })),
  })
  return (
    <QueryView query={list}>
      {({ name, description, members, subscribed }) => (
        <>
          <PageHead
            title={name}
            lead={`${showNumber(subscribed)} subscribed of ${showNumber(members)}${description === null ? '' : ` · ${description}`}`}
            actions={
              <>
                <a
                  href={apiUrl(`/api/lists/${id}/export`)}
                  download
                  className="inline-flex h-9 items-center gap-1.5 rounded-md border bg-panel px-3 text-sm font-medium hover:bg-sunken"
                >
                  <Download aria-hidden className="size-4" /> Export
                </a>
                {mayAct && (
                  <>
                    <Button tone="primary" icon={<Upload />} onClick={() => setAsked('import')}>
                      Import
                    </Button>
                    <Button tone="danger" icon={<Trash2 />} onClick={() => setAsked('remove')}>
                      Remove
                    </Button>
                  </>
                )}
              </>
            }
          />
          <div className="flex flex-col gap-4">
            <Members listId={id} listName={name} mayAct={mayAct} />
            <RecentImports listId={id} />
          </div>
          {asked === 'import' && <ImportFile listId={id} onClose={() => setAsked(null)} />}
          <Confirm
            open={asked === 'remove'}
            onClose={() => setAsked(null)}
            title={`Remove ${name}?`}
            lead={`With who is on it and who opted out of it; ${members === 1 ? 'the contact stays' : `the ${showNumber(members)} contacts stay`}. Not while a campaign goes to it.`}
            action="Remove list"
            tone="danger"
            run={async () => {
              await ask(api.DELETE('/api/lists/{id}', { params: { path: { id } } }))
              await navigate({ to: '/lists' })
              await client.invalidateQueries({ queryKey: ['lists'] })
            }}
          />
        </>
      )}
    </QueryView>
  )
}

function Members({
  listId,
  listName,
  mayAct,
}: {
  readonly listId: string
  readonly listName: string
  readonly mayAct: boolean
}) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const search = useSearch({ strict: false }) as { subscribed?: string }
  const chosen = search.subscribed === 'true' || search.subscribed === 'false' ? search.subscribed : undefined
  const members = useInfiniteQuery({
    queryKey: ['lists', listId, 'members', chosen],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      ask(
        api.GET('/api/lists/{id}/contacts', {
          params: {
            path: { id: listId },
            query: { limit: 100, ...(chosen && { subscribed: chosen }), ...(pageParam && { after: pageParam }) },
          },
        }),
      ),
    getNextPageParam: (page) => (page.has_more ? (page.data.at(-1)?.id ?? null) : null),
  })
  const change = useMutation({
    mutationFn: ({ id, subscribed }: Member) =>
      ask(
        api.PATCH('/api/lists/{id}/contacts/{contact_id}', {
          params: { path: { id: listId, contact_id: id } },
          body: { subscribed: !subscribed },
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ['lists'] }),
  })
  const columns: readonly Column<Member>[] = [
    {
      id: 'email',
      head: 'Address',
      width: 'minmax(0,2fr)',
      cell: ({ id, email }) => (
        <Link to="/contacts/$id" params={{ id }} className="hover:underline">
          {email}
        </Link>
      ),
    },
    { id: 'name', head: 'Name', width: 'minmax(0,1fr)', from: 'sm', cell: ({ name }) => name ?? '—' },
    {
      id: 'subscribed',
      head: 'Subscription',
      width: '7.25rem',
      cell: ({ subscribed }) => (
        <Badge mood={subscribed ? 'good' : 'warn'}>{subscribed ? 'subscribed' : 'opted out'}</Badge>
      ),
    },
    { id: 'joined', head: 'Since', width: '10.5rem', from: 'md', cell: ({ joined_at: at }) => <Time at={at} /> },
    ...(mayAct
      ? [
          {
            id: 'change',
            head: <span className="sr-only">Change</span>,
            width: '9rem',
            from: 'md' as const,
            cell: (member: Member) => (
              <Button
                small
                busy={change.isPending && change.variables.id === member.id}
                onClick={() => change.mutate(member)}
              >
                {member.subscribed ? 'Opt out' : 'Subscribe again'}
              </Button>
            ),
          },
        ]
      : []),
  ]
  const rows = members.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <Panel
      title="Who is on it"
      flush
      actions={
        <Choice
          label="Show"
          hideLabel
          value={chosen ?? ''}
          onChange={(event) =>
            void navigate({
              to: '/lists/$id',
              params: { id: listId },
              search: { subscribed: event.target.value } as never,
            })
          }
        >
          <option value="">everybody</option>
          <option value="true">subscribed</option>
          <option value="false">opted out</option>
        </Choice>
      }
    >
      {members.isError && <ProblemNote error={members.error} retry={() => void members.refetch()} />}
      {members.isPending ? (
        <Loading />
      ) : (
        <DataTable
          label={`Members of ${listName}`}
          rows={rows}
          columns={columns}
          keyOf={({ id }) => id}
          height="60vh"
          more={{
            hasMore: members.hasNextPage,
            loading: members.isFetchingNextPage,
            load: () => void members.fetchNextPage(),
          }}
          empty={<Empty title="Nobody here" command={`npx postrider import people.csv --list "${listName}"`} />}
        />
      )}
    </Panel>
  )
}
