import { ChevronDown } from 'lucide-react'
import { Button } from '../../ui/button'
import { Menu } from '../../ui/menu'
import type { Chosen } from './decide-many'
import { ALL_DECISIONS, countEmails, type Decision, DECISIONS, decisionsFor } from './decisions'
import { type EmailFilter, isNarrowed } from './email-filter'

/** What can be done with those that are chosen. Below them, so that nothing moves while somebody chooses. */
export function SelectionBar({
  chosen,
  onClear,
  onAsk,
}: {
  readonly chosen: readonly Chosen[]
  readonly onClear: () => void
  readonly onAsk: (decision: Decision) => void
}) {
  if (chosen.length === 0) return null
  const statuses = new Set(chosen.map(({ status }) => status))
  const decisions = ALL_DECISIONS.filter((decision) => DECISIONS[decision].from.some((status) => statuses.has(status)))
  return (
    <section
      aria-label="Chosen emails"
      className="sticky bottom-0 z-10 flex flex-wrap items-center gap-2 rounded-b-xl border-t bg-accent-soft px-3 py-2 text-sm sm:px-4"
    >
      <span className="font-medium">{countEmails(chosen.length)} chosen</span>
      {decisions.map((decision) => (
        <Button
          key={decision}
          small
          tone={DECISIONS[decision].tone === 'danger' ? 'danger' : 'plain'}
          onClick={() => onAsk(decision)}
        >
          {DECISIONS[decision].label}
        </Button>
      ))}
      {decisions.length === 0 && <span className="text-soft">Nothing can be done with them any more.</span>}
      <Button small tone="quiet" onClick={onClear}>
        Choose none
      </Button>
    </section>
  )
}

/** What can be done with all that match, also with those nobody scrolled to. */
export function MatchingMenu({
  filter,
  onAsk,
}: {
  readonly filter: EmailFilter
  readonly onAsk: (decision: Decision) => void
}) {
  const decisions = filter.status === undefined ? ALL_DECISIONS : decisionsFor(filter.status)
  if (decisions.length === 0) return null
  const words = (decision: Decision) => {
    const { label, from } = DECISIONS[decision]
    return filter.status === undefined ? `${label}: all ${from.join(' and ').replaceAll('_', ' ')}` : `${label}: all`
  }
  return (
    <Menu
      trigger={
        <Button icon={<ChevronDown />}>
          <span className="max-sm:sr-only">{isNarrowed(filter) ? 'Act on all that match' : 'Act on all'}</span>
        </Button>
      }
      items={decisions.map((decision) => ({
        label: `${words(decision)}${isNarrowed(filter) ? ' that match' : ''}…`,
        danger: DECISIONS[decision].tone === 'danger',
        onSelect: () => onAsk(decision),
      }))}
    />
  )
}
