import { Link } from '@tanstack/react-router'
import { apiUrl } from '../../api/client'
import { wordOf } from '../../ui/badge'
import { Empty } from '../../ui/empty'
import { type EmailFilter, isNarrowed } from './email-filter'

const CURL = `curl ${location.origin}${apiUrl('/api/emails')} \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{"to": "ada@example.com", "subject": "Hello", "text": "Hello."}'`

/** Nothing to show: because all is well, because nothing matches, or because nothing was ever sent. */
export function QueueEmpty({ filter }: { readonly filter: EmailFilter }) {
  if (isNarrowed(filter))
    return (
      <Empty title={filter.status ? `No ${wordOf(filter.status)} email matches` : 'No email matches'}>
        <Link to="/email-queue" className="underline underline-offset-2">
          Show all emails
        </Link>
      </Empty>
    )
  if (filter.status === 'failed' || filter.status === 'uncertain')
    return <Empty title={`Nothing is ${filter.status}`}>Nobody needs to do anything here.</Empty>
  if (filter.status !== undefined) return <Empty title={`No email is ${wordOf(filter.status)}`} />
  return (
    <Empty title="No email yet" command={CURL}>
      Whatever is sent by the API, by a campaign or by a sequence is seen here from the moment it is accepted.
    </Empty>
  )
}
