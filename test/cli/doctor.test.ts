import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { type Dns, examineSenderDns } from '../../src/cli/doctor/examine-sender-dns.js'
import { type BuiltPackage, buildPackage } from '../support/build-package.js'
import { type ScriptedSmtp, startScriptedSmtp } from '../support/scripted-smtp.js'
import { fileDatabase } from '../support/services/file-database.js'
import { findFreePort } from '../support/services/free-port.js'
import { type Cli, openCli } from './run-cli.js'

vi.setConfig({ testTimeout: 120_000 })

/** A piece of the internet: TXT records by name, and where mail goes. */
const dns = (txt: Record<string, string[]>, mx: string[] = []): Dns => ({
  resolveTxt: async (name) => txt[name]?.map((record) => [record]) ?? fail('ENOTFOUND'),
  resolveMx: async () => (mx.length > 0 ? mx.map((exchange) => ({ exchange, priority: 10 })) : fail('ENODATA')),
})
const fail = (code: string): never => {
  throw Object.assign(new Error(code), { code })
}
const SPF = 'v=spf1 include:mail.example -all'
const DMARC = 'v=DMARC1; p=reject'

describe('the DNS of a sender', () => {
  const verdicts = async (address: string, records: Dns) =>
    Object.fromEntries((await examineSenderDns(address, records)).map(({ subject, verdict }) => [subject, verdict]))

  test('is fine with one SPF record, a DMARC policy and a place for replies', async () => {
    const records = dns({ 'shop.dev': ['unrelated', SPF], '_dmarc.shop.dev': [DMARC] }, ['mx.shop.dev'])
    expect(await verdicts('ada@Shop.dev', records)).toEqual({ spf: 'ok', dmarc: 'ok', mx: 'ok' })
  })

  test('has the DMARC policy of the domain above when it has none', async () => {
    const records = dns({ 'news.shop.dev': [SPF], '_dmarc.shop.dev': [DMARC] }, ['mx.shop.dev'])
    expect(await verdicts('ada@news.shop.dev', records)).toEqual({ spf: 'ok', dmarc: 'ok', mx: 'ok' })
  })

  test('that says nothing is a warning each, with what to add', async () => {
    const findings = await examineSenderDns('ada@shop.dev', dns({}))
    expect(findings.map(({ verdict }) => verdict)).toEqual(['warning', 'warning', 'warning'])
    expect(findings.map(({ text }) => text).join('\n')).toMatch(
      /TXT record at shop\.dev, such as "v=spf1.*TXT record at _dmarc\.shop\.dev.*add an MX record/s,
    )
  })

  test('with two SPF records, or an MX that refuses mail, is a warning', async () => {
    const records = dns({ 'shop.dev': [SPF, SPF], '_dmarc.shop.dev': [DMARC] }, [''])
    expect(await verdicts('ada@shop.dev', records)).toEqual({ spf: 'warning', dmarc: 'ok', mx: 'warning' })
  })

  test('that does not answer is a warning and never a problem', async () => {
    const silent = new Promise<never>(() => undefined)
    const findings = await examineSenderDns('ada@shop.dev', { resolveTxt: () => silent, resolveMx: () => silent }, 20)
    expect(findings.map(({ verdict }) => verdict)).toEqual(['warning', 'warning', 'warning'])
    expect(findings[0]!.text).toContain('no answer within 0.02 s')
    const broken = await verdicts('ada@shop.dev', {
      resolveTxt: async () => fail('ESERVFAIL'),
      resolveMx: async () => fail('EREFUSED'),
    })
    expect(Object.values(broken)).toEqual(['warning', 'warning', 'warning'])
  })

  test.each([
    'localhost',
    'shop.localhost',
    'shop.test',
    'mail.example',
    'example.com',
    'a.example.org',
    '[127.0.0.1]',
  ])('of %s is not looked up', async (domain) => {
    const never: Dns = { resolveTxt: async () => fail('asked'), resolveMx: async () => fail('asked') }
    expect(await examineSenderDns(`ada@${domain}`, never)).toMatchObject([{ subject: 'dns', verdict: 'ok' }])
  })
})

describe('the provider', () => {
  let built: BuiltPackage
  let cli: Cli
  let mailServer: ScriptedSmtp
  beforeAll(async () => {
    built = await buildPackage()
    cli = openCli(built)
    mailServer = await startScriptedSmtp({ extensions: ['AUTH PLAIN'] })
  })
  afterAll(async () => {
    await cli.close()
    await mailServer.close()
    built.remove()
  })

  const examine = async (SMTP_URL: string) => {
    const env = { DATABASE_URL: await fileDatabase(), POSTRIDER_SECRET: 'the same for every process', SMTP_URL }
    const { code, stdout } = await cli.run(['doctor', '--json'], env)
    expect(stdout).not.toContain('hidden')
    const findings = JSON.parse(stdout) as { subject: string; verdict: string; text: string }[]
    return { code, ...findings.find(({ subject }) => subject === 'provider') }
  }

  test('is asked to let us in, and nothing is sent', async () => {
    mailServer.script = () => undefined
    const found = await examine(`smtp://ada:hidden@127.0.0.1:${mailServer.port}`)
    expect(found).toMatchObject({ code: 0, verdict: 'ok' })
    expect(mailServer.heard.some((line) => line.startsWith('AUTH'))).toBe(true)
    expect(mailServer.heard.some((line) => line.startsWith('MAIL'))).toBe(false)
  })

  test('that does not let us in is a problem, and doctor exits with 1', async () => {
    mailServer.script = (point) => (point === 'auth' ? { do: 'reply', text: '535 5.7.8 No' } : undefined)
    const found = await examine(`smtp://ada:hidden@127.0.0.1:${mailServer.port}`)
    expect(found).toMatchObject({ code: 1, verdict: 'problem' })
    expect(found.text).toMatch(/failed at auth: 535 5\.7\.8 .*Check user and password in SMTP_URL\./)
  })

  test('that is not there is a problem', async () => {
    const found = await examine(`smtp://127.0.0.1:${await findFreePort()}`)
    expect(found).toMatchObject({ code: 1, verdict: 'problem' })
    expect(found.text).toContain('Check host and port in SMTP_URL')
  })
})
