import type { Shape } from '../../api/types'
import { StatusBadge } from '../../ui/badge'
import { Panel } from '../../ui/panel'
import { Time } from '../../ui/time'

type Delivery = Shape<'Email'>['deliveries'][number]

/** Each recipient is handed over by itself and has an outcome of their own. */
export function RecipientsPanel({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  return (
    <Panel title={`Recipients (${deliveries.length})`} flush>
      <ul className="divide-y">
        {deliveries.map((delivery) => (
          <li key={delivery.recipient} className="flex flex-col gap-1 px-4 py-3 text-sm">
            <div className="flex flex-wrap items-center justify-between gap-2">
              <span className="min-w-0 font-medium break-words">{delivery.recipient}</span>
              <StatusBadge status={delivery.status} />
            </div>
            <span className="text-xs text-soft">
              {delivery.attempts === 1 ? '1 attempt' : `${delivery.attempts} attempts`} ·{' '}
              {delivery.next_attempt_at === null ? (
                <>
                  since <Time at={delivery.updated_at} />
                </>
              ) : (
                <>
                  due <Time at={delivery.next_attempt_at} />
                </>
              )}
            </span>
            {delivery.reason !== null && <span className="text-xs break-words">{delivery.reason}</span>}
            {delivery.in_doubt && (
              <span className="text-xs text-doubt">An earlier hand-over was never answered: it may arrive twice.</span>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  )
}
