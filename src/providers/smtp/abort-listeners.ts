/**
 * Many conversations listen to one signal: all emails of a lease are given up together. An EventTarget goes through all
 * its listeners whenever one is added, so it gets one of ours, and ours come and go in a set.
 */
const listeners = new WeakMap<AbortSignal, Set<() => void>>()

export function onAbort(signal: AbortSignal, listener: () => void): void {
  const known = listeners.get(signal)
  if (known) return void known.add(listener)
  const made = new Set([listener])
  listeners.set(signal, made)
  signal.addEventListener(
    'abort',
    () => {
      for (const each of made) each()
    },
    { once: true },
  )
}

export function offAbort(signal: AbortSignal, listener: () => void): void {
  listeners.get(signal)?.delete(listener)
}
