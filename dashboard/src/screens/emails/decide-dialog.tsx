import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { wordOf } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { InstantField } from '../../ui/instant-field'
import { ProblemNote } from '../../ui/problem-note'
import { Progress } from '../../ui/progress'
import { Spinner } from '../../ui/spinner'
import { Time } from '../../ui/time'
import { say } from '../../ui/toasts'
import { type Counting, countTarget, decideTarget, type Outcome, type Target, type Tally } from './decide-many'
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
  readonly onStart?: (ids: readonly string[]) => void
  readonly onDone: () => Promise<unknown> | void
}) {
  const [at, setAt] = useState<string | null>(null)
  const [counting, setCounting] = useState<Counting | null>(null)
  const [running, setRunning] = useState<{ readonly done: number; readonly stop: AbortController } | null>(null)
  const [error, setError] = useState<unknown>(null)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const rule = DECISIONS[decision]
  const tally = useQuery({
    queryKey: ['decide', decision, target],
    queryFn: ({ signal }) => countTarget(target, decision, { signal, onProgress: setCounting }),
    // Counted for this question, and once more for the next.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const stop = running?.stop
  // Whoever goes elsewhere does not go on changing emails unseen.
  useEffect(() => () => stop?.abort(), [stop])
  const run = async (counted: Tally) => {
    const controller = new AbortController()
    const onProgress = (done: number) => setRunning({ done, stop: controller })
    setError(null)
    onProgress(0)
    try {
      // Of all that match, most are not on the screen.
      if (target.kind === 'chosen') onStart?.(counted.ids)
      const result = await decideTarget(counted, decision, at, { signal: controller.signal, onProgress })
      if (result.refusedCount > 0 || result.hasMore || result.left > 0) setOutcome(result)
      else {
        say(rule.done(countEmails(result.changed)))
        onClose()
      }
    } catch (failure) {
      setError(failure)
    } finally {
      setRunning(null)
      await onDone()
    }
  }
  if (outcome) return <OutcomeDialog outcome={outcome} decision={decision} target={target} onClose={onClose} />
  const isOne = target.kind === 'chosen' && target.emails.length === 1
  const emails = isOne ? 'this email' : tally.data ? describe(tally.data) : 'emails'
  const needsTime = decision === 'reschedule' && at === null
  const leave = running ? () => running.stop.abort() : onClose
  return (
    <Dialog open onClose={leave} title={rule.title(emails)} lead={rule.lead(isOne)}>
      {isOne && <p className="text-sm font-medium break-words">{target.emails[0]!.subject || 'No subject'}</p>}
      {tally.isFetching && <CountingNote counting={counting} />}
      {tally.isError && <ProblemNote error={tally.error} retry={() => void tally.refetch()} />}
      {tally.data && !isOne && <Counted tally={tally.data} decision={decision} />}
      {decision === 'reschedule' && <InstantField label="Send at" value={at} onChange={setAt} />}
      {error !== null && <ProblemNote error={error} />}
      {running && tally.data && tally.data.count > 1 && <Doing done={running.done} total={tally.data.count} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={leave} disabled={running?.stop.signal.aborted ?? false}>
          {running && !isOne ? 'Stop' : 'Leave it'}
        </Button>
        <Button
          tone={rule.tone}
          busy={running !== null}
          disabled={!tally.data || tally.data.count === 0 || needsTime}
          onClick={() => void run(tally.data!)}
        >
          {rule.button(emails)}
        </Button>
      </div>
    </Dialog>
  )
}

/** How many were found so far, and how far back: a search for what is rare comes by a million others. */
const CountingNote = ({ counting }: { readonly counting: Counting | null }) => (
  <p role="status" className="flex items-center gap-2 text-sm text-soft">
    <Spinner />
    <span>
      Counting…{' '}
      {counting && (
        <>
          {showNumber(counting.found)} so far
          {counting.searchedUntil && (
            <>
              , back to <Time at={counting.searchedUntil} />
            </>
          )}
        </>
      )}
    </span>
  </p>
)

const Doing = ({ done, total }: { readonly done: number; readonly total: number }) => (
  <div className="flex flex-col gap-1.5">
    <Progress label="Emails decided" total={total} parts={[{ label: 'done', value: done, className: 'bg-accent' }]} />
    <p className="text-xs text-soft tabular-nums">
      {showNumber(done)} of {showNumber(total)}. Stopped in the middle, those stay done.
    </p>
  </div>
)

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
  const { changed, refused, refusedCount, left, hasMore, error } = outcome
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
      {error !== null && <ProblemNote error={error} />}
      {left > 0 && (
        <p className="text-sm text-soft">
          {error === null ? 'You stopped it. ' : 'It stopped there. '}
          {countEmails(left)} {left === 1 ? 'was' : 'were'} not come to
          {error === null
            ? ' and stay as they are.'
            : ': of the last few nobody knows. Look at them, and do it again for those that are left.'}
        </p>
      )}
      {hasMore && left === 0 && <p className="text-sm text-soft">There are more that match. Do it again for those.</p>}
      <div className="flex justify-end">
        <Button tone="primary" onClick={onClose}>
          Understood
        </Button>
      </div>
    </Dialog>
  )
}
