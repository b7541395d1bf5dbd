/** Aborted by Ctrl-C or SIGTERM, so that databases are dropped before the process ends; a second one ends it at once. */
export function untilSignal(): AbortSignal {
  const controller = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => controller.abort(new Error(`Ended by ${name}.`)))
  return controller.signal
}
