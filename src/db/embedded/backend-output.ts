/**
 * What the server must know about a backend's answer before it passes it on: whether the session is inside a
 * transaction, which notifications it carries, and whether it changed what the session listens to.
 */

export interface BackendOutput {
  /** 'I' idle, 'T' in a transaction, 'E' in a failed one; null when the answer does not end a unit (after a Flush). */
  readonly status: 'I' | 'T' | 'E' | null
  readonly notifications: readonly Notification[]
  /** A LISTEN was executed. */
  readonly listened: boolean
  /** An UNLISTEN or DISCARD was executed: the shared session may have stopped listening for everyone. */
  readonly unlistened: boolean
}

export interface Notification {
  readonly channel: string
  /** The whole NotificationResponse, to be sent on as it is. */
  readonly message: Buffer
  /** Where it stands in the answer. */
  readonly start: number
}

const [NOTIFICATION, COMMAND_COMPLETE, READY_FOR_QUERY, DATA_ROW, ERROR] = Buffer.from('ACZDE') as unknown as [
  number,
  number,
  number,
  number,
  number,
]

export function readOutput(bytes: Buffer): BackendOutput {
  let status: BackendOutput['status'] = null
  let listened = false
  let unlistened = false
  const notifications: Notification[] = []
  for (let at = 0, next; at + 5 <= bytes.length; at = next) {
    next = at + 1 + bytes.readInt32BE(at + 1)
    switch (bytes[at]!) {
      case READY_FOR_QUERY:
        status = String.fromCharCode(bytes[at + 5]!) as 'I' | 'T' | 'E'
        break
      case NOTIFICATION:
        notifications.push({
          channel: bytes.toString('utf8', at + 9, bytes.indexOf(0, at + 9)),
          message: bytes.subarray(at, next),
          start: at,
        })
        break
      case COMMAND_COMPLETE: {
        const tag = bytes.toString('latin1', at + 5, Math.min(at + 13, next - 1))
        listened ||= tag === 'LISTEN'
        unlistened ||= tag === 'UNLISTEN' || tag.startsWith('DISCARD')
        break
      }
      default:
        break // Rows, parameters and errors are for the client alone.
    }
  }
  return { status, notifications, listened, unlistened }
}

/** The answer as a connection sees it that does not listen to anything. */
export function withoutNotifications(bytes: Buffer, { notifications }: BackendOutput): Buffer {
  if (notifications.length === 0) return bytes
  const pieces: Buffer[] = []
  let from = 0
  for (const { start, message } of notifications) {
    pieces.push(bytes.subarray(from, start))
    from = start + message.length
  }
  pieces.push(bytes.subarray(from))
  return Buffer.concat(pieces)
}

/** The rows of a text-format answer, for our own few questions; throws what the backend complained about. */
export function readRows(bytes: Buffer): (string | null)[][] {
  const rows: (string | null)[][] = []
  for (let at = 0, next; at + 5 <= bytes.length; at = next) {
    next = at + 1 + bytes.readInt32BE(at + 1)
    if (bytes[at] === ERROR) throw new Error(readErrorText(bytes.subarray(at + 5, next)))
    if (bytes[at] !== DATA_ROW) continue
    const row: (string | null)[] = []
    for (let column = at + 7; column < next;) {
      const length = bytes.readInt32BE(column)
      column += 4
      row.push(length < 0 ? null : bytes.toString('utf8', column, column + length))
      column += Math.max(length, 0)
    }
    rows.push(row)
  }
  return rows
}

function readErrorText(fields: Buffer): string {
  const text = fields
    .toString('utf8')
    .split('\0')
    .find((field) => field.startsWith('M'))
  return text?.slice(1) ?? 'unknown database error'
}
