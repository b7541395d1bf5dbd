import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { TextField } from '../../ui/field'
import { ProblemNote } from '../../ui/problem-note'

const KEY = 'postrider.test-address'

/** Sends something to one address, which is remembered for the next time, and says where it can be seen. */
export function TestSendDialog({
  open,
  onClose,
  lead,
  send,
}: {
  readonly open: boolean
  readonly onClose: () => void
  readonly lead: string
  /** Returns the id of the email. */
  readonly send: (to: string) => Promise<string>
}) {
  const [to, setTo] = useState(() => localStorage.getItem(KEY) ?? '')
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [sent, setSent] = useState<{ readonly id: string; readonly to: string } | null>(null)
  const close = () => {
    setSent(null)
    setError(null)
    onClose()
  }
  const go = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(null)
    setSent(null)
    try {
      setSent({ id: await send(to.trim()), to: to.trim() })
      localStorage.setItem(KEY, to.trim())
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog open={open} onClose={close} title="Send a test" lead={lead}>
      <form className="flex flex-col gap-4" onSubmit={(event) => void go(event)}>
        <TextField
          label="To"
          value={to}
          required
          autoComplete="email"
          placeholder="me@example.com"
          onChange={(event) => setTo(event.target.value)}
        />
        {error !== null && <ProblemNote error={error} />}
        {sent && (
          <p role="status" className="rounded-lg bg-good-soft p-3 text-sm text-good">
            Queued for {sent.to}.{' '}
            <Link to="/emails/$id" params={{ id: sent.id }} className="underline">
              See what becomes of it
            </Link>
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{sent ? 'Close' : 'Leave it'}</Button>
          <Button type="submit" tone="primary" busy={busy}>
            {sent ? 'Send it once more' : 'Send the test'}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
