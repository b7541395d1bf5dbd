import { isUtf8 } from 'node:buffer'
import { refusal, RequestError } from './problem.js'

/** 25 MB of attachments in base64, and their html. */
export const BODY_LIMIT = 35_000_000

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json(?:$|[ \t]*;)/i

/** JSON is in UTF-8 (RFC 8259 8.1): one that says otherwise would be read as something its author never wrote. */
const FOREIGN_CHARSET = /;\s*charset\s*=\s*(?!"?(?:utf-?8|us-ascii)"?\s*(?:;|$))/i

/** A member of that name, never a text: checks further on would leave it out in silence, or trip over it. */
const PROTO_KEY = /"(?:_|\\u005f){2}proto(?:_|\\u005f){2}"\s*:/i

/** The JSON of a request; undefined when there is no body at all. */
export async function readJson(request: Request): Promise<unknown> {
  const body = await readText(request)
  if (body === '') return undefined
  const type = request.headers.get('content-type')
  if (!type || !JSON_TYPE.test(type))
    throw new RequestError('content_type_unsupported', 'Send the body as JSON, with Content-Type: application/json.')
  if (FOREIGN_CHARSET.test(type))
    throw new RequestError('content_type_unsupported', 'Send the JSON in UTF-8: no other charset is read.')
  try {
    const json = JSON.parse(body) as unknown
    if (PROTO_KEY.test(body))
      throw refusal([{ in: 'body', path: [], detail: 'must not have a member named __proto__' }])
    return json
  } catch (error) {
    if (error instanceof RequestError) throw error
    // The parser's own words quote the body, which may hold what nobody wants repeated in a log.
    const position = /position \d+/.exec((error as Error).message)
    throw new RequestError('json_malformed', `The body is not JSON${position ? ` (at ${position[0]})` : ''}.`)
  }
}

async function readText(request: Request): Promise<string> {
  const announced = request.headers.get('content-length')
  if (Number(announced) > BODY_LIMIT) throw tooLarge()
  // Whoever read the request off the wire holds the body to the length it announced, so it can be taken in one go.
  if (announced !== null) return decode(Buffer.from(await request.arrayBuffer()))
  if (!request.body) return ''
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of request.body as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength
    if (length > BODY_LIMIT) throw tooLarge()
    chunks.push(chunk)
  }
  return decode(Buffer.concat(chunks))
}

const BYTE_ORDER_MARK = '\uFEFF'

/** A decoder puts question marks where it cannot read, and they would go out in an email. */
function decode(bytes: Buffer): string {
  if (!isUtf8(bytes))
    throw new RequestError('json_malformed', 'The body is not UTF-8. JSON is sent in UTF-8, whatever its text is.')
  const text = bytes.toString('utf8')
  return text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text
}

/** The bytes of a request as they come, for those who need not hold them all. */
export function readStream(
  request: Request,
  { contentType, limit }: { readonly contentType: string; readonly limit: number },
): AsyncIterable<Uint8Array> {
  const [type, ...parameters] = (request.headers.get('content-type') ?? '').toLowerCase().split(';')
  const foreign = parameters.some((each) => /^\s*charset=/.test(each) && !/^\s*charset="?utf-8"?\s*$/.test(each))
  if (type!.trim() !== contentType || foreign)
    throw new RequestError(
      'content_type_unsupported',
      `Send the body as ${contentType} in UTF-8, with Content-Type: ${contentType}.`,
    )
  if (Number(request.headers.get('content-length')) > limit) throw tooLarge(limit)
  return limited(request, limit)
}

async function* limited({ body }: Request, limit: number): AsyncGenerator<Uint8Array> {
  let length = 0
  if (!body) return
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength
    if (length > limit) throw tooLarge(limit)
    yield chunk
  }
}

const FORM_LIMIT = 20_000

/** The fields of a form, urlencoded or multipart, by their names in lower case. A body that is none has none. */
export async function readForm(request: Request): Promise<ReadonlyMap<string, string>> {
  const chunks: Uint8Array[] = []
  for await (const chunk of limited(request, FORM_LIMIT)) chunks.push(chunk)
  const type = request.headers.get('content-type') ?? ''
  try {
    const form = await new Response(Buffer.concat(chunks), { headers: { 'content-type': type } }).formData()
    return new Map([...form].map(([name, value]) => [name.toLowerCase(), typeof value === 'string' ? value : '']))
  } catch {
    return new Map()
  }
}

const tooLarge = (limit = BODY_LIMIT) => new RequestError('body_too_large', `The body may have ${limit} bytes.`)
