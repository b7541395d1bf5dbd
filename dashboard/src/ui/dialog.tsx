import { X } from 'lucide-react'
import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import { Button, IconButton, type Tone } from './button'
import { ProblemNote } from './problem-note'

export function Dialog({
  open,
  onClose,
  title,
  lead,
  children,
  wide,
}: {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  readonly lead?: ReactNode
  readonly children: ReactNode
  readonly wide?: boolean
}) {
  return (
    <Radix.Root open={open} onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content
          {...(lead === undefined && { 'aria-describedby': undefined })}
          className={`fixed top-1/2 left-1/2 z-50 flex max-h-[90vh] w-[calc(100vw-2rem)] -translate-x-1/2 -translate-y-1/2 flex-col gap-4 overflow-y-auto rounded-xl border bg-panel p-5 shadow-xl ${wide ? 'max-w-3xl' : 'max-w-md'}`}
        >
          <div className="flex items-start justify-between gap-3">
            <div className="min-w-0">
              <Radix.Title className="text-base font-semibold break-words">{title}</Radix.Title>
              {lead !== undefined && (
                <Radix.Description className="mt-1 text-sm break-words text-soft">{lead}</Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" icon={<X />} />
            </Radix.Close>
          </div>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** Asks before something is done, does it, and stays with what went wrong. */
export function Confirm({
  open,
  onClose,
  title,
  lead,
  action,
  tone = 'primary',
  run,
  disabled = false,
  children,
}: {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: ReactNode
  readonly lead?: ReactNode
  /** The verb on the button: "Retry 12 emails". */
  readonly action: string
  readonly tone?: Tone
  readonly run: () => Promise<unknown>
  /** Something is missing that the children ask for. */
  readonly disabled?: boolean
  readonly children?: ReactNode
}) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const close = () => {
    setError(null)
    onClose()
  }
  const go = async () => {
    setBusy(true)
    setError(null)
    try {
      await run()
      close()
    } catch (failure) {
      setError(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog open={open} onClose={close} title={title} lead={lead}>
      {children}
      {error !== null && <ProblemNote error={error} />}
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={close}>Leave it</Button>
        <Button tone={tone} busy={busy} disabled={disabled} onClick={() => void go()}>
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
