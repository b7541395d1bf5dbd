import { Link } from '@tanstack/react-router'
import { Info, OctagonAlert, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import type { Shape } from '../../api/types'
import { Panel } from '../../ui/panel'

type Item = Shape<'Attention'>
type Target = NonNullable<Item['link']>

const ICONS: Record<Item['severity'], ReactNode> = {
  critical: <OctagonAlert aria-label="critical" className="size-4 shrink-0 text-bad" />,
  warning: <TriangleAlert aria-label="warning" className="size-4 shrink-0 text-warn" />,
  info: <Info aria-label="for information" className="size-4 shrink-0 text-calm" />,
}
const PAGES = {
  emails: '/email-queue',
  senders: '/senders',
  campaigns: '/campaigns',
  imports: '/lists',
  settings: '/settings',
} as const
const ONE = {
  emails: '/emails/$id',
  senders: '/senders/$id',
  campaigns: '/campaigns/$id',
  imports: '/imports/$id',
} as const

/** What somebody should look at, in words, each leading to the exact rows. */
export function AttentionList({ items }: { readonly items: readonly Item[] }) {
  return (
    <Panel title="Needs attention" flush>
      <ul className="divide-y">
        {items.map(({ kind, severity, text, link }) => (
          <li key={`${kind} ${text}`} className="flex items-start gap-3 px-4 py-3 text-sm">
            <span className="mt-0.5">{ICONS[severity]}</span>
            <span className="min-w-0 flex-1 break-words">{text}</span>
            {link && <Target link={link} />}
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Target({ link: { page, filter, ids } }: { readonly link: Target }) {
  const className = 'shrink-0 underline'
  const [only, ...others] = ids ?? []
  if (only !== undefined && others.length === 0 && page !== 'settings')
    return (
      <Link to={ONE[page]} params={{ id: only }} className={className}>
        Look
      </Link>
    )
  return (
    <Link to={PAGES[page]} search={(filter ?? {}) as never} className={className}>
      Look
    </Link>
  )
}
