import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { describeConfig, type Environment, parseConfig, readEnvironment } from '../../src/config.js'
import { SETTINGS } from '../../src/settings.js'
import { RETRY_POLICIES } from '../../src/domain/retry.js'
import { PostriderError } from '../../src/errors.js'

const directory = mkdtempSync(join(tmpdir(), 'postrider-config-'))
afterAll(() => rmSync(directory, { recursive: true }))
const file = (name: string, text: string) => {
  writeFileSync(join(directory, name), text)
  return join(directory, name)
}

const refusal = (environment: Environment): PostriderError => {
  try {
    parseConfig(environment)
  } catch (error) {
    if (error instanceof PostriderError) return error
    throw error
  }
  throw new Error('was accepted')
}

describe('the settings', () => {
  it('have the documented defaults', () => {
    expect(parseConfig({})).toEqual({
      settings: describeConfig({}),
      databaseUrl: null,
      dataDirectory: './.postrider',
      brokerUrl: null,
      workerConcurrency: 20,
      leaseMs: 60_000,
      sweepMs: 5_000,
      retentionMs: 90 * 86_400_000,
      batchSize: 500,
      retryPolicies: RETRY_POLICIES,
      smtpUrl: null,
      dkim: null,
      mailFrom: { name: 'Postrider', address: 'hello@localhost' },
      host: '127.0.0.1',
      port: 3400,
      publicUrl: 'http://127.0.0.1:3400',
      secret: null,
      apiKey: null,
      adminPassword: null,
      cronSecret: null,
      rateLimit: 1_000,
      inlineDeadlineMs: 10_000,
      logLevel: 'info',
    })
  })

  it('all take effect', () => {
    const config = parseConfig({
      DATABASE_URL: 'postgres://u:p@h:5432/d',
      POSTRIDER_DATA: '/data',
      WORKER_CONCURRENCY: '7',
      LEASE_SECONDS: '30',
      SWEEP_SECONDS: '2',
      RETENTION_DAYS: '1',
      BATCH_SIZE: '40',
      RETRY_OUTREACH: '1s, 2s',
      RETRY_TRANSACTIONAL: '3s',
      RETRY_STANDARD: '1.5m',
      MAX_ATTEMPTS_OUTREACH: '2',
      MAX_ATTEMPTS_TRANSACTIONAL: '3',
      MAX_ATTEMPTS_STANDARD: '9',
      BROKER_URL: 'amqp://u:p@broker:5672?prefix=shop',
      SMTP_URL: 'smtp://mail.example.com',
      MAIL_FROM: 'Ada <ada@example.com>',
      HOST: '0.0.0.0',
      PORT: '8080',
      PUBLIC_URL: 'https://mail.example.com/',
      POSTRIDER_SECRET: 'a secret with spaces',
      POSTRIDER_API_KEY: 'a-key-of-some-length',
      POSTRIDER_ADMIN_PASSWORD: 'a password of mine',
      CRON_SECRET: 'a-secret-of-cron-jobs',
      RATE_LIMIT: '5',
      INLINE_DEADLINE_SECONDS: '3',
      LOG_LEVEL: 'debug',
    })
    expect(config).toMatchObject({
      databaseUrl: 'postgres://u:p@h:5432/d',
      dataDirectory: '/data',
      workerConcurrency: 7,
      leaseMs: 30_000,
      sweepMs: 2_000,
      retentionMs: 86_400_000,
      batchSize: 40,
      brokerUrl: 'amqp://u:p@broker:5672?prefix=shop',
      smtpUrl: 'smtp://mail.example.com',
      mailFrom: { name: 'Ada', address: 'ada@example.com' },
      host: '0.0.0.0',
      port: 8080,
      publicUrl: 'https://mail.example.com',
      secret: 'a secret with spaces',
      apiKey: 'a-key-of-some-length',
      adminPassword: 'a password of mine',
      cronSecret: 'a-secret-of-cron-jobs',
      rateLimit: 5,
      inlineDeadlineMs: 3_000,
      logLevel: 'debug',
      retryPolicies: {
        outreach: { waitsMs: [1_000, 2_000], maxAttempts: 2 },
        transactional: { waitsMs: [3_000], maxAttempts: 3 },
        standard: { waitsMs: [90_000], maxAttempts: 9 },
      },
    })
  })

  it.each([
    ['DATABASE_URL', 'mysql://h/d', /postgres:\/\//],
    ['DATABASE_URL', 'localhost', /postgres:\/\//],
    ['WORKER_CONCURRENCY', '0', /1 to 10000/],
    ['WORKER_CONCURRENCY', '10001', /1 to 10000/],
    ['WORKER_CONCURRENCY', '1.5', /whole number/],
    ['LEASE_SECONDS', '4', /5 to 3600/],
    ['LEASE_SECONDS', '60s', /whole number/],
    ['SWEEP_SECONDS', '-1', /1 to 3600/],
    ['RETENTION_DAYS', '3651', /1 to 3650/],
    ['RETRY_OUTREACH', '1m,,5m', /30s,5m,1h/],
    ['RETRY_OUTREACH', '1m,,5m', /is "1m,,5m".*nothing beside one of the commas/],
    ['RETRY_STANDARD', '60', /30s,5m,1h/],
    ['RETRY_TRANSACTIONAL', '1m,999999999d', /is "999999999d".*at most 365d/],
    ['RETRY_TRANSACTIONAL', '365.1d', /at most 365d/],
    ['PUBLIC_URL', 'https://mail.example.com/?a=b', /without a query/],
    ['PUBLIC_URL', 'https://mail.example.com/#a', /without a query or a fragment/],
    ['MAX_ATTEMPTS_STANDARD', '0', /1 to 100/],
    ['LOG_LEVEL', 'inf', /Did you mean "info"/],
    ['POSTRIDER_SECRET', 'short', /at least 16 characters/],
    ['POSTRIDER_API_KEY', 'a key with spaces in it', /no spaces/],
    ['MAIL_FROM', 'nobody', /one address/],
    ['PUBLIC_URL', 'ftp://x', /https:\/\//],
    ['SMTP_URL', 'http://x', /smtp:\/\//],
    ['BROKER_URL', 'http://x', /redis:\/\/.*amqp:\/\//],
    ['BROKER_URL', 'localhost', /a URL like redis:\/\//],
    ['BROKER_URL', 'redis://h?prefix=a:b', /letters, digits/],
    ['PORT', '70000', /0 to 65535/],
    ['DKIM_DOMAIN', 'example.com', /belong together/],
  ])('refuse %s=%s in words', (name, value, words) => {
    const error = refusal({ [name]: value })
    expect(error.code).toBe('setting_invalid')
    expect(error.message).toMatch(words)
    expect(error.message).toContain(name)
  })

  it('never repeat the password of a wrong DATABASE_URL', () => {
    expect(refusal({ DATABASE_URL: 'postgress://u:secret@h/d' }).message).not.toContain('secret')
  })

  it.each([
    ['POSTRIDER_DATE', /Did you mean POSTRIDER_DATA\?/],
    ['POSTRIDER_COLOUR', /postrider config/],
    ['LEASE_SECOND', /Did you mean LEASE_SECONDS\?/],
    ['MAX_ATTEMPTS_OUTREECH', /Did you mean MAX_ATTEMPTS_OUTREACH\?/],
    ['POSTRIDER_PORT', /Did you mean PORT\?/],
    ['POSTRIDER_HOST', /Did you mean HOST\?/],
    ['POSTRIDER_SERVICE', /postrider config/],
    ['POSTRIDER_SERVICE_HOSTS', /postrider config/],
  ])('refuse %s, which is none of them', (name, words) => {
    const error = refusal({ [name]: 'x' })
    expect(error.code).toBe('setting_unknown')
    expect(error.message).toMatch(words)
  })

  it("leave other people's variables alone", () => {
    expect(() => parseConfig({ PATH: '/bin', RETRY_AFTER_HOOK: '1', LEASES: 'x', npm_config_x: '' })).not.toThrow()
  })

  it.each(['POSTRIDER', 'POSTRIDER_API', 'BROKER'])('leave alone what Kubernetes says of a Service, %s', (service) => {
    const told = {
      [`${service}_SERVICE_HOST`]: '10.0.0.1',
      [`${service}_SERVICE_PORT`]: '3400',
      [`${service}_SERVICE_PORT_HTTP`]: '3400',
      [`${service}_SERVICE_PORT_HTTP_METRICS`]: '9090',
      [`${service}_PORT`]: 'tcp://10.0.0.1:3400',
      [`${service}_PORT_3400_TCP`]: 'tcp://10.0.0.1:3400',
      [`${service}_PORT_3400_TCP_PROTO`]: 'tcp',
      [`${service}_PORT_3400_TCP_PORT`]: '3400',
      [`${service}_PORT_3400_TCP_ADDR`]: '10.0.0.1',
    }
    expect(parseConfig({ ...told, PORT: '8080' }).port).toBe(8080)
  })

  it('read a secret from a file, and say which file cannot be read', () => {
    const DATABASE_URL_FILE = file('url', 'postgres://u:p@h/d\n')
    expect(parseConfig({ DATABASE_URL_FILE }).databaseUrl).toBe('postgres://u:p@h/d')
    const error = refusal({ DATABASE_URL_FILE: join(directory, 'missing') })
    expect(error).toMatchObject({ code: 'setting_invalid' })
    expect(error.message).toContain('DATABASE_URL_FILE')
  })

  it('take the environment before .env, and .env before the default', () => {
    const env = file('.env', 'LEASE_SECONDS=10\nSWEEP_SECONDS=3\n')
    const config = parseConfig(readEnvironment({ LEASE_SECONDS: '20' }, env))
    expect(config).toMatchObject({ leaseMs: 20_000, sweepMs: 3_000, workerConcurrency: 20 })
    expect(readEnvironment({ A: 'b' }, join(directory, 'none'))).toEqual({ A: 'b' })
  })

  it('are all described, with where they come from and no password', () => {
    const described = describeConfig({ DATABASE_URL: 'postgres://me:s3cret@h/d', LEASE_SECONDS: '9' })
    expect(described.map(({ name }) => name)).toEqual(Object.keys(SETTINGS))
    const find = (name: string) => described.find((setting) => setting.name === name)
    expect(find('DATABASE_URL')).toEqual({ name: 'DATABASE_URL', value: 'postgres://me:***@h/d', source: 'set' })
    expect(find('LEASE_SECONDS')).toMatchObject({ value: '9', source: 'set' })
    expect(find('SWEEP_SECONDS')).toMatchObject({ value: '5', source: 'default' })
    expect(JSON.stringify(described)).not.toContain('s3cret')
  })

  it.each(['postgres://me:s3@cret@h/d', 'postgres://h/d?password=s3cret', 'postgres://me:s3/cret@h/d'])(
    'show no password wherever %s has it',
    (url) => {
      expect(JSON.stringify(describeConfig({ DATABASE_URL: url }))).not.toMatch(/s3|cret/)
    },
  )
})
