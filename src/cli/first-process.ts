/**
 * Preloaded in containers (`node --import`), where Postrider is process number 1: to that one a signal nobody listens to
 * means nothing, and a SIGTERM that comes while everything is still being loaded would be lost. Until somebody else
 * listens, a signal ends the process as it would anywhere else; nothing is under way then.
 */
import { constants } from 'node:os'

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    if (process.listenerCount(signal) === 1) process.exit(128 + constants.signals[signal])
  })
