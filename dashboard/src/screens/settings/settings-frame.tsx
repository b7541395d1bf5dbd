import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMayAct } from '../../shell/session'
import { Empty } from '../../ui/empty'
import { PageHead, Panel } from '../../ui/panel'

const PLACES = [
  ['/settings', 'In force'],
  ['/settings/keys', 'API keys'],
  ['/settings/people', 'People'],
  ['/settings/audit', 'Audit log'],
] as const

/** The four pages about Postrider itself. */
export function SettingsFrame({
  lead,
  actions,
  operatorsOnly,
  children,
}: {
  readonly lead: string
  readonly actions?: ReactNode
  readonly operatorsOnly?: boolean
  readonly children: ReactNode
}) {
  const mayAct = useMayAct()
  const isClosed = operatorsOnly === true && !mayAct
  return (
    <>
      <PageHead title="Settings" lead={lead} actions={isClosed ? undefined : actions} />
      <nav aria-label="Settings" className="mb-4 flex gap-1 overflow-x-auto border-b">
        {PLACES.map(([to, label]) => (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: true }}
            className="-mb-px border-b-2 border-transparent px-3 py-2 text-sm -outline-offset-2 whitespace-nowrap text-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:font-medium aria-[current=page]:text-ink"
          >
            {label}
          </Link>
        ))}
      </nav>
      {isClosed ? (
        <Panel>
          <Empty title="For operators">You are a viewer. An operator can show you this, or change your role.</Empty>
        </Panel>
      ) : (
        children
      )}
    </>
  )
}
