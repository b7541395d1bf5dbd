import { CircleCheck, TriangleAlert, X } from 'lucide-react'
import { useSyncExternalStore } from 'react'
import { problemOf } from '../api/problem'
import { IconButton } from './button'

interface Toast {
  readonly id: number
  readonly bad: boolean
  readonly text: string
}

let toasts: readonly Toast[] = []
let next = 0
const listeners = new Set<() => void>()
const set = (changed: readonly Toast[]) => {
  toasts = changed
  for (const listener of listeners) listener()
}
const drop = (id: number) => set(toasts.filter((toast) => toast.id !== id))

function show(text: string, bad: boolean): void {
  const id = next++
  set([...toasts.slice(-3), { id, bad, text }])
  // What went wrong stays until it is read.
  if (!bad) setTimeout(() => drop(id), 5_000)
}

export const say = (text: string): void => show(text, false)
export const complain = (error: unknown): void => {
  const { title, detail } = problemOf(error)
  show(detail || title, true)
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div aria-live="polite" className="fixed right-4 bottom-4 z-60 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2">
      {shown.map(({ id, bad, text }) => (
        <div
          key={id}
          role={bad ? 'alert' : 'status'}
          className="flex items-start gap-2 rounded-lg border bg-panel p-3 text-sm shadow-lg"
        >
          {bad ? (
            <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
          ) : (
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
          )}
          <span className="min-w-0 flex-1 break-words">{text}</span>
          <IconButton label="Dismiss this message" icon={<X />} onClick={() => drop(id)} />
        </div>
      ))}
    </div>
  )
}
