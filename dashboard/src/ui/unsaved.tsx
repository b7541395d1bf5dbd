import { useBlocker } from '@tanstack/react-router'
import { Button } from './button'
import { Dialog } from './dialog'

/** Asks before somebody leaves what they have not saved: by a link, by going back, or by closing the window. */
export function UnsavedGuard({ dirty, what }: { readonly dirty: boolean; readonly what: string }) {
  const blocker = useBlocker({ shouldBlockFn: () => dirty, enableBeforeUnload: () => dirty, withResolver: true })
  return (
    <Dialog
      open={blocker.status === 'blocked'}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      lead={`What you changed in ${what} is not saved yet.`}
    >
      <div className="flex flex-wrap justify-end gap-2">
        <Button onClick={() => blocker.proceed?.()} tone="danger">
          Leave, and lose it
        </Button>
        <Button tone="primary" onClick={() => blocker.reset?.()}>
          Stay here
        </Button>
      </div>
    </Dialog>
  )
}
