/** A line of SMTP, taken apart: the verb in capitals, and what follows it. */
export function splitCommand(line: string): { verb: string; rest: string } {
  const space = line.indexOf(' ')
  if (space === -1) return { verb: line.toUpperCase(), rest: '' }
  return { verb: line.slice(0, space).toUpperCase(), rest: line.slice(space + 1).trim() }
}

export interface Path {
  readonly address: string
  /** What comes after the path, such as `SIZE=1000 BODY=8BITMIME`. */
  readonly parameters: string
}

/** The address in `FROM:<a@b.example> SIZE=1000`; null when it is not written like that. */
export function parsePath(keyword: 'FROM:' | 'TO:', rest: string): Path | null {
  if (rest.slice(0, keyword.length).toUpperCase() !== keyword) return null
  const path = rest.slice(keyword.length).trimStart()
  if (path[0] !== '<') return null
  const end = findPathEnd(path)
  if (end === -1) return null
  const address = path.slice(1, end)
  // A control character in an address is an injection that did not work: it must not look as if it were all right.
  // oxlint-disable-next-line no-control-regex
  if (/[\x00-\x1f\x7f]/.test(address)) return null
  const parameters = path.slice(end + 1)
  if (parameters !== '' && parameters[0] !== ' ') return null
  return { address, parameters: parameters.trim() }
}

/** A quoted local part, as in <"a>b"@c.example>, may contain the bracket that would end it. */
function findPathEnd(path: string): number {
  const end = path.indexOf('>')
  const quote = path.indexOf('"')
  if (quote === -1 || quote > end) return end
  let quoted = false
  for (let at = 1; at < path.length; at++) {
    if (path[at] === '\\') at++
    else if (path[at] === '"') quoted = !quoted
    else if (path[at] === '>' && !quoted) return at
  }
  return -1
}

/** What the client says the message will weigh; 0 when it says nothing. */
export function announcedSize(parameters: string): number {
  const size = /(?:^| )SIZE=(\d{1,20})(?: |$)/i.exec(parameters)
  return size ? Number(size[1]) : 0
}
