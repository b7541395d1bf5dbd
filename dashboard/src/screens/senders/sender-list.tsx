import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { useState } from 'react'
import { apiUrl } from '../../api/client'
import { useMayAct } from '../../shell/session'
import { StatusBadge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Empty } from '../../ui/empty'
import { PageHead, Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { NewSender } from './new-sender'
import { describePace } from './pace-words'
import { QuotaBar } from './quota-bar'
import { type Sender, sendersQuery } from './sender-queries'

export function SenderList() {
  const [isNew, setNew] = useState(false)
  const mayAct = useMayAct()
  const senders = useQuery(sendersQuery)
  return (
    <>
      <PageHead
        title="Senders"
        lead="Who emails come from, through which server, and how fast."
        actions={
          mayAct && (
            <Button tone="primary" icon={<Plus />} onClick={() => setNew(true)}>
              New sender
            </Button>
          )
        }
      />
      <QueryView query={senders} what="Loading senders">
        {(data) =>
          data.length === 0 ? (
            <Panel>
              <Empty title="No sender yet" command={makeCommand()}>
                The first start makes one from MAIL_FROM and SMTP_URL. More can be made here or by the API.
              </Empty>
            </Panel>
          ) : (
            <div className="grid gap-4 lg:grid-cols-2">
              {data.map((sender) => (
                <SenderCard key={sender.id} sender={sender} />
              ))}
            </div>
          )
        }
      </QueryView>
      {isNew && <NewSender onClose={() => setNew(false)} />}
    </>
  )
}

function SenderCard({ sender }: { readonly sender: Sender }) {
  return (
    <Panel>
      <div className="flex items-start justify-between gap-3">
        <div className="min-w-0">
          <h2 className="truncate font-semibold">
            <Link to="/senders/$id" params={{ id: sender.id }} className="hover:underline">
              {sender.name ?? sender.address}
            </Link>
          </h2>
          <p className="text-sm break-words text-soft">
            {sender.name !== null && `${sender.address} · `}
            {sender.provider === 'capture' ? 'captured, never sent' : 'by SMTP'}
            {sender.is_default && ' · default'}
          </p>
        </div>
        <StatusBadge status={sender.paused_at === null ? 'active' : 'paused'} />
      </div>
      {sender.paused_reason !== null && (
        <p className="mt-3 rounded-md bg-warn-soft px-3 py-2 text-sm break-words text-warn">{sender.paused_reason}</p>
      )}
      <p className="mt-3 text-sm text-soft">{describePace(sender.pace)}</p>
      <div className="mt-3">
        <QuotaBar senderId={sender.id} />
      </div>
    </Panel>
  )
}

const makeCommand = () => `curl -X POST ${location.origin}${apiUrl('/api/senders')} \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"address": "Ada <ada@example.com>", "smtp_url": "smtps://user:password@mail.example.com"}'`
