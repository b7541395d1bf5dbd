import type { Taken } from './ledger.js'
import type { Sink, SinkCounts, SinkOptions } from './start-sink.js'

/** Between two lines of progress on a terminal. */
const PROGRESS_MS = 5000

export interface SinkVoice {
  /** To be given to the sink. */
  readonly listeners: Pick<SinkOptions, 'onTaken' | 'onFault' | 'onTrouble'>
  /** Says where it listens; what it returns says how it was. */
  begin(sink: Sink): () => void
}

/** What a running sink says: to people in short lines, to programs in lines of JSON. */
export function createSinkVoice({ json, quiet }: { json: boolean; quiet: boolean }): SinkVoice {
  const print = (text: string) => void process.stdout.write(`${text}\n`)
  const tell = (event: string, fields: object) => print(JSON.stringify({ event, ...fields }))
  let troubled = false
  const onTrouble: SinkOptions['onTrouble'] = (error) => {
    // Once is enough: with a full disk every message has this trouble.
    if (!troubled)
      process.stderr.write(`postrider: messages are refused, they cannot be written down: ${String(error)}\n`)
    troubled = true
  }

  return {
    listeners: quiet
      ? { onTrouble }
      : {
          onTrouble,
          onTaken: (taken) => (json ? tell('taken', taken) : print(takenLine(taken))),
          onFault: (connection, { phase, name }) =>
            json
              ? tell('fault', { connection, phase, fault: name })
              : print(`${phase}:${name}  connection ${connection}`),
        },
    begin(sink) {
      if (json) tell('listening', { port: sink.port, host: sink.host, seed: sink.seed })
      else print(`sink listening on ${sink.host.includes(':') ? `[${sink.host}]` : sink.host}:${sink.port}`)
      if (!json && sink.rules.length > 0) print(`chaos with seed ${sink.seed}`)
      const endProgress = process.stderr.isTTY && !quiet ? showProgress(sink) : () => undefined
      return () => {
        endProgress()
        if (json) tell('stopped', sink.counts())
        else print(summary(sink.counts()))
      }
    },
  }
}

const summary = ({ messages, connections, faults }: SinkCounts) =>
  `${messages} messages from ${connections} connections, ${faults} faults`

const takenLine = ({ n, from, to, size, subject, replied }: Taken) =>
  [`${n}`, `${from || '<>'} to ${to.join(', ')}`, `${size} bytes`, subject, replied === 'accepted' ? null : replied]
    .filter((part) => part !== null)
    .map(printable)
    .join('  ')

/** A subject is somebody else's text: it must not steer the terminal it is shown on. */
// oxlint-disable-next-line no-control-regex
const printable = (text: string) => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?')

function showProgress(sink: Sink): () => void {
  let before = sink.counts().messages
  const timer = setInterval(() => {
    const counts = sink.counts()
    const rate = Math.round((counts.messages - before) / (PROGRESS_MS / 1000))
    if (counts.messages !== before) process.stderr.write(`${summary(counts)}, ${counts.open} open, ${rate}/s\n`)
    before = counts.messages
  }, PROGRESS_MS)
  return () => clearInterval(timer)
}
