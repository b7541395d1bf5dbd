import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../../api/client'
import type { Shape } from '../../api/types'
import { useMayAct } from '../../shell/session'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { type Column, DataTable } from '../../ui/data-table'
import { Confirm, Dialog } from '../../ui/dialog'
import { Empty } from '../../ui/empty'
import { Choice, TextArea, TextField, textOf } from '../../ui/field'
import { PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { Loading } from '../../ui/spinner'
import { Time } from '../../ui/time'
import { say } from '../../ui/toasts'
import { showNumber } from '../../ui/number'

type Row = Shape<'Suppression'>

const COLUMNS: readonly Column<Row>[] = [
  { id: 'email', head: 'Address', width: 'minmax(0,2fr)', cell: ({ email }) => <span title={email}>{email}</span> },
  {
    id: 'scope',
    head: 'Kept from',
    width: '7.25rem',
    cell: ({ scope }) => (
      <Badge mood={scope === 'all' ? 'bad' : 'warn'}>{scope === 'all' ? 'all mail' : 'marketing'}</Badge>
    ),
  },
  { id: 'reason', head: 'Why', width: '9rem', from: 'sm', cell: ({ reason }) => reason.replaceAll('_', ' ') },
  {
    id: 'detail',
    head: 'Detail',
    width: 'minmax(0,2fr)',
    from: 'md',
    cell: ({ detail }) => <span title={detail ?? ''}>{detail ?? '—'}</span>,
  },
  { id: 'at', head: 'Since', width: '10.5rem', from: 'lg', cell: ({ created_at: at }) => <Time at={at} /> },
]

export function Suppressions() {
  const client = useQueryClient()
  const mayAct = useMayAct()
  const [isNew, setNew] = useState(false)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [allowing, setAllowing] = useState(false)
  const found = useInfiniteQuery({
    queryKey: ['suppressions'],
    initialPageParam: null as string | null,
    queryFn: ({ pageParam }) =>
      ask(api.GET('/api/suppressions', { params: { query: { limit: 100, ...(pageParam && { after: pageParam }) } } })),
    getNextPageParam: (page) => (page.has_more ? (page.data.at(-1)?.email ?? null) : null),
  })
  const rows = found.data?.pages.flatMap(({ data }) => data) ?? []
  const emails = [...new Set([...chosen].map((key) => key.slice(key.indexOf(' ') + 1)))]
  return (
    <>
      <PageHead
        title="Suppressions"
        lead="Addresses that are not mailed. A marketing opt-out never holds back a password reset; a hard bounce holds back everything."
        actions={
          mayAct && (
            <>
              {emails.length > 0 && (
                <Button onClick={() => setAllowing(true)}>Allow {showNumber(emails.length)} again</Button>
              )}
              <Button tone="primary" icon={<Plus />} onClick={() => setNew(true)}>
                Suppress addresses
              </Button>
            </>
          )
        }
      />
      <Panel flush>
        {found.isError && <ProblemNote error={found.error} retry={() => void found.refetch()} />}
        {found.isPending ? (
          <Loading />
        ) : (
          <DataTable
            label="Suppressions"
            rows={rows}
            columns={COLUMNS}
            keyOf={({ scope, email }) => `${scope} ${email}`}
            {...(mayAct && { selection: { chosen, onChange: setChosen } })}
            more={{
              hasMore: found.hasNextPage,
              loading: found.isFetchingNextPage,
              load: () => void found.fetchNextPage(),
            }}
            empty={
              <Empty title="Nobody is suppressed" command="npx postrider suppressions add ada@example.com">
                Hard bounces, complaints and unsubscribes appear here by themselves.
              </Empty>
            }
          />
        )}
      </Panel>
      <Confirm
        open={allowing}
        onClose={() => setAllowing(false)}
        title={`Mail ${showNumber(emails.length)} ${emails.length === 1 ? 'address' : 'addresses'} again?`}
        lead="In every scope. A server or a person said no once: only when you know that this has changed."
        action={`Allow ${showNumber(emails.length)}`}
        run={async () => {
          const { removed } = await ask(
            api.POST('/api/suppressions/batch/remove', { body: { emails: emails.slice(0, 1_000) } }),
          )
          say(`${showNumber(removed)} allowed again.`)
          setChosen(new Set())
          await client.invalidateQueries({ queryKey: ['suppressions'] })
        }}
      />
      {isNew && <Add onClose={() => setNew(false)} />}
    </>
  )
}

function Add({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const add = useMutation({
    meta: { quiet: true },
    mutationFn: (form: FormData) => {
      const emails = textOf(form, 'emails')
        .split(/[\s,;]+/)
        .filter((email) => email !== '')
      const scope = textOf(form, 'scope') === 'marketing' ? ('marketing' as const) : ('all' as const)
      const body = { emails, scope, reason: 'manual' as const, detail: textOf(form, 'detail') || null }
      return ask(api.POST('/api/suppressions/batch/add', { body }))
    },
    async onSuccess({ added }) {
      say(`${showNumber(added)} suppressed that were not before.`)
      onClose()
      await client.invalidateQueries({ queryKey: ['suppressions'] })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    add.mutate(new FormData(event.currentTarget))
  }
  return (
    <Dialog open onClose={onClose} title="Suppress addresses">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextArea
          label="Addresses"
          name="emails"
          hint="One per line, or with commas; at most 1,000."
          autoFocus
          required
        />
        <Choice label="Keep from them" name="scope" defaultValue="all">
          <option value="all">all mail</option>
          <option value="marketing">marketing only</option>
        </Choice>
        <TextField label="Why, for whoever looks next" name="detail" />
        {add.isError && <ProblemNote error={add.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Leave it</Button>
          <Button type="submit" tone="primary" busy={add.isPending}>
            Suppress
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
