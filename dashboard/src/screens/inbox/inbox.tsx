import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import type { Entry } from '../../api/types'
import { PagesView } from '../../live/pages-view'
import { useLivePages } from '../../live/use-live-pages'
import { useMayAct } from '../../shell/session'
import { formatSize } from '../../ui/attachment-list'
import { Button } from '../../ui/button'
import type { Column } from '../../ui/data-table'
import { Confirm } from '../../ui/dialog'
import { Empty } from '../../ui/empty'
import { PageHead, Panel } from '../../ui/panel'
import { Time, useZone } from '../../ui/time'
import { say } from '../../ui/toasts'
import { showNumber } from '../../ui/number'

type Row = Entry<'/api/inbox'>

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'subject',
    head: 'Email',
    width: 'minmax(0,2fr)',
    cell: ({ id, subject, recipient }) => (
      <span className="flex min-w-0 flex-col leading-tight">
        <Link to="/inbox/$id" params={{ id }} title={subject ?? ''} className="truncate font-medium hover:underline">
          {subject || <span className="text-soft italic">no subject</span>}
        </Link>
        <span className="truncate text-xs text-soft sm:hidden">{recipient}</span>
      </span>
    ),
  },
  {
    id: 'to',
    head: 'To',
    width: 'minmax(0,1.2fr)',
    from: 'sm',
    cell: ({ recipient }) => <span title={recipient}>{recipient}</span>,
  },
  {
    id: 'from',
    head: 'From',
    width: 'minmax(0,1.2fr)',
    from: 'md',
    cell: ({ from, return_path: returnPath }) => <span title={from ?? returnPath}>{from ?? returnPath}</span>,
  },
  { id: 'size', head: 'Size', width: '6rem', from: 'lg', align: 'right', cell: ({ size }) => formatSize(size) },
  { id: 'at', head: 'Captured', width: '8rem', cell: ({ captured_at: at }) => <Time at={at} /> },
]

const COMMAND = `npx postrider send --to ada@example.com --subject 'Hello' --text 'Hello.'`

/** What the dev inbox kept instead of sending it. */
export function InboxList() {
  const client = useQueryClient()
  const mayAct = useMayAct()
  const zone = useZone()
  const [asked, setAsked] = useState(false)
  const live = useLivePages<Row>(['inbox', 'list'], async (after) => {
    const query = { limit: 100, ...(after !== null && { after }) }
    const page = await ask(api.GET('/api/inbox', { params: { query } }))
    return { rows: page.data, end: page.has_more ? (page.data.at(-1)?.id ?? null) : null }
  })
  const empty = useMutation({
    meta: { quiet: true },
    mutationFn: () => ask(api.DELETE('/api/inbox')),
    async onSuccess({ deleted }) {
      say(deleted === 1 ? '1 captured email is gone.' : `${showNumber(deleted)} captured emails are gone.`)
      await client.invalidateQueries({ queryKey: ['inbox'] })
    },
  })
  return (
    <>
      <PageHead
        title="Inbox"
        lead={`Mail that was captured instead of sent, newest first. Nothing here reached anybody. Times in ${zone}.`}
        actions={
          mayAct &&
          live.shown.rows.length > 0 && (
            <Button tone="danger" icon={<Trash2 />} onClick={() => setAsked(true)}>
              Empty the inbox
            </Button>
          )
        }
      />
      <Panel flush>
        <PagesView
          live={live}
          label="Captured emails"
          newer="Newer mail was captured: show it"
          columns={COLUMNS}
          height="max(24rem, calc(100vh - 11rem))"
          empty={
            <Empty title="Nothing was captured" command={COMMAND}>
              As long as a sender has no mail server (no SMTP_URL), its mail is kept here, where it can be looked at as
              it would have arrived.
            </Empty>
          }
        />
      </Panel>
      <Confirm
        open={asked}
        onClose={() => setAsked(false)}
        title="Empty the inbox?"
        lead="All captured mail of this workspace is deleted, also what is not shown yet. The emails themselves and their history stay in the email queue."
        action="Delete all captured mail"
        tone="danger"
        run={() => empty.mutateAsync()}
      />
    </>
  )
}
