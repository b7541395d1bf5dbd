import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { wordOf } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { InstantField } from '../../ui/instant-field'
import { ProblemNote } from '../../ui/problem-note'
import { Progress } from '../../ui/progress'
import { Loading } from '../../ui/spinner'
import { say } from '../../ui/toasts'
import { type Chosen, countTarget, decideTarget, type Outcome, type Target, type Tally } from './decide-many'
import { countEmails, type Decision, DECISIONS } from './decisions'
import { showNumber } from '../../ui/number'

/**
 * Asks, with how many it is about, does it, and says what became of it. Those that are something else by then are not
 * forced: they are listed with what they are now.
 */
export function DecideDialog({
  decision,
  target,
  onClose,
  onStart,
  onDone,
}: {
  readonly decision: Decision
  readonly target: Target
  readonly onClose: () => void
  readonly onStart?: (emails: readonly Chosen[]) => void
  readonly onDone: () => Promise<unknown> | void
}) {
  const [at, setAt] = useState<string | null>(null)
  const [done, setDone] = useState<number | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const rule = DECISIONS[decision]
  const tally = useQuery({
    queryKey: ['decide', decision, target],
    queryFn: () => countTarget(target, decision),
    // Counted for this question, and once more for the next.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const run = async (counted: Tally) => {
    setError(null)
    setDone(0)
    try {
      onStart?.(counted.emails)
      const result = await decideTarget(target, counted, decision, at, setDone)
      if (result.refusedCount > 0 || result.hasMore) setOutcome(result)
      else {
        say(rule.done(countEmails(result.changed)))
        onClose()
      }
    } catch (failure) {
      setError(failure)
      // It may be another number by now: the next click is about what is true then.
      if (target.kind === 'matching') await tally.refetch()
    } finally {
      setDone(null)
      await onDone()
    }
  }
  if (outcome) return <OutcomeDialog outcome={outcome} decision={decision} target={target} onClose={onClose} />
  const isOne = target.kind === 'chosen' && target.emails.length === 1
  const emails = isOne ? 'this email' : tally.data ? describe(tally.data) : 'emails'
  const needsTime = decision === 'reschedule' && at === null
  return (
    <Dialog open onClose={onClose} title={rule.title(emails)} lead={rule.lead(isOne)}>
      {isOne && <p className="text-sm font-medium break-words">{target.emails[0]!.subject || 'No subject'}</p>}
      {tally.isPending && <Loading what="Counting" />}
      {tally.isError && <ProblemNote error={tally.error} retry={() => void tally.refetch()} />}
      {tally.data && !isOne && <Counted tally={tally.data} decision={decision} />}
      {decision === 'reschedule' && <InstantField label="Send at" value={at} onChange={setAt} />}
      {error !== null && <ProblemNote error={error} />}
      {done !== null && done > 0 && tally.data && (
        <Progress
          label={`${done} of ${tally.data.count}`}
          total={tally.data.count}
          parts={[{ label: 'done', value: done, className: 'bg-accent' }]}
        />
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={onClose}>Leave it</Button>
        <Button
          tone={rule.tone}
          busy={done !== null}
          disabled={!tally.data || tally.data.count === 0 || needsTime}
          onClick={() => void run(tally.data!)}
        >
          {rule.button(isOne ? 'this email' : tally.data ? describe(tally.data) : 'emails')}
        </Button>
      </div>
    </Dialog>
  )
}

const describe = ({ count, hasMore }: Tally): string =>
  hasMore ? `the newest ${countEmails(count)}` : countEmails(count)

/** Those of the chosen ones that it does not apply to. */
function Counted({ tally: { count, others }, decision }: { readonly tally: Tally; readonly decision: Decision }) {
  const left = [...others.values()].reduce((sum, number) => sum + number, 0)
  const only = `Only those that are ${DECISIONS[decision].from.join(' or ').replaceAll('_', ' ')} can be.`
  if (count === 0) return <p className="text-sm">None of them can be changed this way now. {only}</p>
  if (left === 0) return null
  const kinds = [...others].map(([status, number]) => `${showNumber(number)} ${wordOf(status)}`)
  return (
    <p className="text-sm text-soft">
      {countEmails(left)} of those you chose {left === 1 ? 'stays as it is' : 'stay as they are'}: {kinds.join(', ')}.{' '}
      {only}
    </p>
  )
}

function OutcomeDialog({
  outcome,
  decision,
  target,
  onClose,
}: {
  readonly outcome: Outcome
  readonly decision: Decision
  readonly target: Target
  readonly onClose: () => void
}) {
  const { changed, refused, refusedCount, hasMore } = outcome
  const names = new Map(target.kind === 'chosen' ? target.emails.map(({ id, subject }) => [id, subject]) : [])
  return (
    <Dialog
      open
      onClose={onClose}
      title={changed === 0 ? 'Nothing was changed' : DECISIONS[decision].done(countEmails(changed))}
      lead={
        refusedCount > 0
          ? `${countEmails(refusedCount)} had become something else meanwhile, and ${refusedCount === 1 ? 'was' : 'were'} left alone:`
          : undefined
      }
    >
      {refused.length > 0 && (
        <ul className="flex max-h-72 flex-col gap-2 overflow-y-auto text-sm">
          {refused.map(({ id, detail }) => (
            <li key={id} className="flex min-w-0 flex-col rounded-md border p-2">
              <Link to="/emails/$id" params={{ id }} className="truncate font-medium hover:underline">
                {names.get(id) || id}
              </Link>
              <span className="text-xs break-words text-soft">{detail}</span>
            </li>
          ))}
        </ul>
      )}
      {refusedCount > refused.length && (
        <p className="text-sm text-soft">And {countEmails(refusedCount - refused.length)} more.</p>
      )}
      {hasMore && <p className="text-sm text-soft">There are more that match. Do it again for those.</p>}
      <div className="flex justify-end">
        <Button tone="primary" onClick={onClose}>
          Understood
        </Button>
      </div>
    </Dialog>
  )
}
