import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { openDatabase } from '../../src/db/open-database.js'
import { createLog } from '../../src/log.js'
import { copyEmbeddedTemplate, type EmbeddedTemplate } from '../support/services/embedded-template.js'
import { sized } from '../support/sized.js'
import { announcedStorm, prepareStorms, type Storms } from './announced-storm.js'
import { ROUND } from './storm.js'

/** At the least, somebody is killed at every point. */
const HOLD = sized({ emails: 200, kills: ROUND }, { emails: 2_500, kills: 24 })
const RESEND = sized({ emails: 120, kills: ROUND }, { emails: 600, kills: 10 })

let storms: Storms
const copies: EmbeddedTemplate[] = []
beforeAll(async () => {
  storms = await prepareStorms()
})
afterEach(() => {
  for (const copy of copies.splice(0)) copy.remove()
})
afterAll(() => storms.remove())

const storm: typeof announcedStorm = (what, options) => announcedStorm(`on the embedded database, ${what}`, options)
const place = () => {
  const copy = copyEmbeddedTemplate(inject('embeddedTemplate'))
  copies.push(copy)
  const { directory: dataDirectory } = copy
  const open = async () => {
    const { db } = await openDatabase({ databaseUrl: null, dataDirectory, attach: true, log: createLog('silent') })
    return db
  }
  return { databaseUrl: null, dataDirectory, open }
}

describe('while the owner and its attached workers are killed and the mail server misbehaves, on the embedded database,', () => {
  test('nothing goes out twice, nothing is lost, nothing is guessed', { timeout: 1_800_000 }, async () => {
    const options = { ...storms, ...place(), ...HOLD, onUncertain: 'hold' as const }
    const { broken, counts, ends, missed } = await storm('hold', options)
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0])
    // Otherwise the kills would have proved nothing.
    expect(missed).toEqual([])
    expect(counts['uncertainByKill']).toBeGreaterThan(0)
    expect(counts['lostAnswers']).toBeGreaterThan(0)
  })

  test('with resend only what was uncertain goes out twice, unchanged', { timeout: 1_800_000 }, async () => {
    const options = { ...storms, ...place(), ...RESEND, onUncertain: 'resend' as const }
    const { broken, counts, ends, missed } = await storm('resend', options)
    expect(broken).toEqual([])
    expect(ends).toEqual([0, 0, 0])
    expect(missed).toEqual([])
    expect(counts['takenTwice']).toBeGreaterThan(0)
  })
})
