import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useEffect, useState } from 'react'
import { api, ask } from '../../api/client'
import { endOf } from '../../api/read-all'
import type { Entry } from '../../api/types'
import { useMayAct } from '../../shell/session'
import { Button } from '../../ui/button'
import { type Column, DataTable } from '../../ui/data-table'
import { Dialog } from '../../ui/dialog'
import { Empty } from '../../ui/empty'
import { TextField } from '../../ui/field'
import { PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { Loading } from '../../ui/spinner'
import { Time } from '../../ui/time'
import { useDebounced } from '../../ui/use-debounced'
import { ContactForm, type ContactFields } from './contact-form'

type Row = Entry<'/api/contacts'>

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'email',
    head: 'Address',
    width: 'minmax(0,2fr)',
    cell: ({ id, email, name }) => (
      <>
        <Link to="/contacts/$id" params={{ id }} className="hover:underline">
          {email}
        </Link>
        {name !== null && <span className="block truncate text-xs text-soft sm:hidden">{name}</span>}
      </>
    ),
  },
  {
    id: 'name',
    head: 'Name',
    width: 'minmax(0,1fr)',
    from: 'sm',
    cell: ({ name }) => name ?? <span className="text-soft">—</span>,
  },
  {
    id: 'attributes',
    head: 'Attributes',
    width: 'minmax(0,2fr)',
    from: 'md',
    cell: ({ attributes }) => <Attributes attributes={attributes} />,
  },
  {
    id: 'timezone',
    head: 'Timezone',
    width: '10rem',
    from: 'lg',
    cell: ({ timezone }) => timezone ?? <span className="text-soft">the sender’s</span>,
  },
  { id: 'created', head: 'Made', width: '10.5rem', from: 'sm', cell: ({ created_at: at }) => <Time at={at} /> },
]

const Attributes = ({ attributes }: { readonly attributes: Row['attributes'] }) => {
  const text = Object.entries(attributes)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
  return (
    <span className="text-xs text-soft" title={text}>
      {text || '—'}
    </span>
  )
}

export function ContactList() {
  const search = useSearch({ strict: false }) as { q?: string }
  const navigate = useNavigate()
  const mayAct = useMayAct()
  const [isNew, setNew] = useState(false)
  const [typed, setTyped] = useState(search.q ?? '')
  const q = useDebounced(typed.trim())
  useEffect(() => {
    if (q !== (search.q ?? '')) void navigate({ to: '/contacts', search: { q } as never, replace: true })
  }, [q, search.q, navigate])
  const contacts = useInfiniteQuery({
    queryKey: ['contacts', 'list', q],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      ask(
        api.GET('/api/contacts', {
          params: { query: { limit: 100, ...(q && { q }), ...(pageParam && { after: pageParam }) } },
        }),
      ),
    getNextPageParam: endOf,
  })
  const rows = contacts.data?.pages.flatMap(({ data }) => data) ?? []
  return (
    <>
      <PageHead
        title="Contacts"
        lead="Everybody who can be mailed by a campaign, once per address."
        actions={
          mayAct && (
            <Button tone="primary" icon={<Plus />} onClick={() => setNew(true)}>
              New contact
            </Button>
          )
        }
      />
      <Panel flush>
        <div className="border-b p-4">
          <TextField
            label="Search"
            type="search"
            value={typed}
            placeholder="Part of an address or a name"
            onChange={(event) => setTyped(event.target.value)}
          />
        </div>
        {contacts.isError && <ProblemNote error={contacts.error} retry={() => void contacts.refetch()} />}
        {contacts.isPending ? (
          <Loading />
        ) : (
          <DataTable
            label="Contacts"
            rows={rows}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            more={{
              hasMore: contacts.hasNextPage,
              loading: contacts.isFetchingNextPage,
              load: () => void contacts.fetchNextPage(),
            }}
            empty={
              q ? (
                <Empty title={`Nobody matches “${q}”`} />
              ) : (
                <Empty title="No contact yet" command="npx postrider import people.csv --list Newsletter">
                  Contacts come from a CSV file, from the API, or one by one.
                </Empty>
              )
            }
          />
        )}
      </Panel>
      {isNew && <NewContact onClose={() => setNew(false)} />}
    </>
  )
}

function NewContact({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const make = useMutation({
    meta: { quiet: true },
    mutationFn: (body: ContactFields) => ask(api.POST('/api/contacts', { body })),
    async onSuccess({ id }) {
      await client.invalidateQueries({ queryKey: ['contacts'] })
      await navigate({ to: '/contacts/$id', params: { id } })
    },
  })
  return (
    <Dialog
      open
      onClose={onClose}
      title="New contact"
      lead="If the address is known already, this is merged into that contact."
    >
      <ContactForm
        action="Save contact"
        error={make.error}
        busy={make.isPending}
        onCancel={onClose}
        onSubmit={(body) => make.mutate(body)}
      />
    </Dialog>
  )
}
