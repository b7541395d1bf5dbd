import { Resolver } from 'node:dns/promises'
import type { Finding } from '../../operations/examine.js'

/** Whether the world will believe mail from this address: SPF and DMARC, and where its bounces and replies go. */
export interface Dns {
  resolveTxt(name: string): Promise<string[][]>
  resolveMx(name: string): Promise<{ exchange: string; priority: number }[]>
}

const PATIENCE_MS = 3_000

export async function examineSenderDns(address: string, dns?: Dns, patienceMs = PATIENCE_MS): Promise<Finding[]> {
  const domain = address.slice(address.lastIndexOf('@') + 1).toLowerCase()
  if (isPrivate(domain))
    return [{ subject: 'dns', verdict: 'ok', text: `not looked up: ${domain} is no name of the public internet` }]
  const resolver = new Resolver({ timeout: patienceMs, tries: 1 })
  const ask = createAsker(dns ?? resolver, patienceMs)
  try {
    return await Promise.all([examineSpf(ask, domain), examineDmarc(ask, domain), examineMx(ask, domain)])
  } finally {
    resolver.cancel()
  }
}

/** Names set aside by RFC 2606 and 6761, address literals, and names without a dot. */
const isPrivate = (domain: string) =>
  !domain.includes('.') ||
  domain.startsWith('[') ||
  /(^|\.)(localhost|test|example(\.(com|net|org))?|invalid|local)$/.test(domain)

type Answer<T> = { readonly found: T[] } | { readonly failure: string }

interface Asker {
  txt(name: string): Promise<Answer<string>>
  mx(name: string): Promise<Answer<string>>
}

function createAsker(dns: Dns, patienceMs: number): Asker {
  const ask = async <T>(question: Promise<T[]>): Promise<Answer<T>> => {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<Answer<T>>((resolve) => {
      timer = setTimeout(() => resolve({ failure: `no answer within ${patienceMs / 1_000} s` }), patienceMs)
    })
    const answer = question.then(
      (found): Answer<T> => ({ found }),
      ({ code, message }: NodeJS.ErrnoException): Answer<T> =>
        // There is no such record, or no such name: an answer like any other.
        code === 'ENODATA' || code === 'ENOTFOUND' ? { found: [] } : { failure: code ?? message },
    )
    try {
      return await Promise.race([answer, late])
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    txt: (name) => ask(dns.resolveTxt(name).then((records) => records.map((parts) => parts.join('')))),
    mx: (name) => ask(dns.resolveMx(name).then((records) => records.map(({ exchange }) => exchange))),
  }
}

const ok = (subject: string, text: string): Finding => ({ subject, verdict: 'ok', text })
const warn = (subject: string, text: string): Finding => ({ subject, verdict: 'warning', text })
const unanswered = (subject: string, name: string, failure: string) =>
  warn(subject, `${name} could not be looked up (${failure}): try again, or ask another resolver`)

async function examineSpf(ask: Asker, domain: string): Promise<Finding> {
  const answer = await ask.txt(domain)
  if ('failure' in answer) return unanswered('spf', domain, answer.failure)
  const records = answer.found.filter((record) => /^v=spf1( |$)/i.test(record))
  if (records.length === 1) return ok('spf', records[0]!)
  return records.length === 0
    ? warn('spf', `none: add a TXT record at ${domain}, such as "v=spf1 include:<your mail server's> -all"`)
    : warn('spf', `${records.length} records at ${domain}, which counts as none: join them into one`)
}

/** A subdomain without a policy of its own has that of the domain above it (RFC 7489 6.6.3). */
async function examineDmarc(ask: Asker, domain: string): Promise<Finding> {
  const labels = domain.split('.')
  for (let above = 0; above <= labels.length - 2; above++) {
    const name = `_dmarc.${labels.slice(above).join('.')}`
    const answer = await ask.txt(name)
    if ('failure' in answer) return unanswered('dmarc', name, answer.failure)
    const record = answer.found.find((each) => /^v=DMARC1\s*;/i.test(each))
    if (record) return ok('dmarc', `${record} (at ${name})`)
  }
  return warn(
    'dmarc',
    `none: add a TXT record at _dmarc.${domain}, such as "v=DMARC1; p=none; rua=mailto:you@${domain}"`,
  )
}

async function examineMx(ask: Asker, domain: string): Promise<Finding> {
  const answer = await ask.mx(domain)
  if ('failure' in answer) return unanswered('mx', domain, answer.failure)
  const hosts = answer.found.filter((exchange) => exchange !== '' && exchange !== '.')
  if (hosts.length > 0) return ok('mx', hosts.join(', '))
  return warn('mx', `none: bounces of and replies to mail from ${domain} cannot arrive; add an MX record`)
}
