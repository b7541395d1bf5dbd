import { describe, expect, it } from 'vitest'
import { newId, showId } from '../../src/id.js'
import { DATABASE_KINDS } from '../support/test-database.js'
import { openApi } from './api-fixture.js'

const OFFICE = {
  timezone: 'Europe/Paris',
  sending_days: [1, 2, 3, 4, 5],
  start_hour: 9,
  end_hour: '17:30',
  blackout_dates: ['2026-12-25'],
  daily_quota: 200,
  ramp_up_enabled: true,
  ramp_up_start: 20,
  ramp_up_step: 15,
  gap_min_seconds: 45,
  gap_max_seconds: 120,
}

describe.each(DATABASE_KINDS)('the pace of the API, on %s', (kind) => {
  const api = openApi(kind)
  const settings = 'GET /api/settings/sending'
  const put = (json: unknown) => api.call('PUT /api/settings/sending', { json })
  const defaultSender = async () => {
    const { body } = await api.call('GET /api/senders')
    return (body.data as { id: string; is_default: boolean; pace: unknown }[]).find((one) => one.is_default)!
  }

  it('shows what a pace would yield, and saves nothing', async () => {
    const preview = (json: unknown) => api.call('POST /api/settings/sending/preview', { json })
    const { body } = await preview({
      pace: { ...OFFICE, blackout_dates: [], gap_min_seconds: 60, gap_max_seconds: 60 },
    })
    const days = body.days as { date: string; opens_at: string; closes_at: string; quota: number; fits: number }[]
    const slots = (body.slots as string[]).map((slot) => Date.parse(slot))
    expect(days).toHaveLength(7)
    for (const { date } of days) expect([0, 6]).not.toContain(new Date(`${date}T12:00:00Z`).getUTCDay())
    expect(days.every(({ quota, fits }) => fits <= quota && quota <= 200)).toBe(true)
    expect(days[1]!.quota).toBeGreaterThan(days[0]!.quota)
    expect(slots).toHaveLength(10)
    for (const [i, slot] of slots.entries()) {
      if (i > 0) expect(slot - slots[i - 1]!).toBeGreaterThanOrEqual(60_000)
      expect(days.some(({ opens_at, closes_at }) => slot >= Date.parse(opens_at) && slot < Date.parse(closes_at))).toBe(
        true,
      )
    }
    expect((await defaultSender()).pace).toBeNull()
    const wrong = await preview({ pace: { timezone: 'Mars/Olympus', start_hour: 9, end_hour: 8 } })
    expect(wrong.status).toBe(422)
    expect((wrong.body.errors as { pointer: string }[]).map(({ pointer }) => pointer)).toEqual([
      '/pace/timezone',
      '/pace/end_hour',
    ])
    expect((await preview({ pace: {}, sender_id: showId('snd', newId()) })).status).toBe(404)
  })

  it('restricts nothing until it is set, and is the pace of the default sender', async () => {
    expect((await api.call(settings)).body).toMatchObject({
      timezone: 'UTC',
      sending_days: [1, 2, 3, 4, 5, 6, 7],
      start_hour: 0,
      end_hour: 24,
      daily_quota: null,
      gap_min_seconds: 30,
      gap_max_seconds: 90,
    })
    expect((await defaultSender()).pace).toBeNull()
    expect((await put(OFFICE)).body).toEqual(OFFICE)
    expect((await api.call(settings)).body).toEqual(OFFICE)
    const { id, pace } = await defaultSender()
    expect(pace).toEqual(OFFICE)
    // What is not said of it, is not kept of the last one either.
    expect((await put({ daily_quota: 5 })).body).toMatchObject({ timezone: 'UTC', start_hour: 0, daily_quota: 5 })
    // A change of something else leaves it alone; null takes it away.
    expect((await api.call(`PATCH /api/senders/${id}`, { json: { name: 'New' } })).body.pace.daily_quota).toBe(5)
    expect((await api.call(`PATCH /api/senders/${id}`, { json: { pace: null } })).body.pace).toBeNull()
  })

  it('is set with a sender that is made', async () => {
    const { body } = await api.call('POST /api/senders', { json: { address: 'paced@sender.test', pace: OFFICE } })
    expect(body.pace).toEqual(OFFICE)
  })

  it.each([
    [{ timezone: 'Mars/Olympus' }, '/timezone', /is not a timezone/],
    [{ timezone: '+02:00' }, '/timezone', /is not a timezone/],
    [{ sending_days: [] }, '/sending_days', /at least one day/],
    [{ sending_days: [1, 8] }, '/sending_days/1', /1 \(Monday\) to 7/],
    [{ start_hour: 17, end_hour: 9 }, '/end_hour', /later than start_hour/],
    [{ start_hour: 9, end_hour: 9 }, '/end_hour', /later than start_hour/],
    [{ start_hour: 9.5 }, '/start_hour', /whole hour/],
    [{ end_hour: '25:00' }, '/end_hour', /whole hour/],
    [{ end_hour: true }, '/end_hour', /whole hour/],
    [{ blackout_dates: ['2026-02-28', '2026-02-29'] }, '/blackout_dates/1', /must be a date/],
    [{ daily_quota: 0 }, '/daily_quota', /whole number from 1/],
    [{ daily_quota: -1 }, '/daily_quota', /whole number from 1/],
    [{ ramp_up_enabled: true }, '/daily_quota', /needed with ramp-up/],
    [{ ramp_up_step: -5 }, '/ramp_up_step', /whole number from 1/],
    [{ gap_min_seconds: -1 }, '/gap_min_seconds', /whole number from 0/],
    [{ gap_min_seconds: 90, gap_max_seconds: 30 }, '/gap_max_seconds', /not be less than gap_min_seconds/],
    [{ timezon: 'UTC' }, '/timezon', /did you mean timezone/],
  ])('is refused as %j', async (json, pointer, detail) => {
    const { status, body } = await put(json)
    expect([status, body.errors[0].pointer]).toEqual([422, pointer])
    expect(body.errors[0].detail).toMatch(detail)
    const { id } = await defaultSender()
    const patched = await api.call(`PATCH /api/senders/${id}`, { json: { pace: json } })
    expect([patched.status, patched.body.errors[0].pointer]).toEqual([422, `/pace${pointer}`])
  })

  it('shows how much of a day is used, and begins the ramp-up on the day it is enabled', async () => {
    const { id } = await defaultSender()
    const quota = async (query = '') => (await api.call(`GET /api/senders/${id}/quota${query}`)).body
    expect(await quota('?date=2026-12-25')).toEqual({
      date: '2026-12-25',
      quota: null,
      booked: 0,
      sent: 0,
      remaining: null,
    })
    await put({
      timezone: 'Pacific/Kiritimati',
      daily_quota: 25,
      ramp_up_enabled: true,
      ramp_up_start: 5,
      ramp_up_step: 10,
    })
    const today = (await quota()).date as string
    const later = (days: number) => new Date(Date.parse(today) + days * 86_400_000).toISOString().slice(0, 10)
    const quotas = []
    for (const days of [0, 1, 2, 3]) quotas.push((await quota(`?date=${later(days)}`)).quota)
    expect(quotas).toEqual([5, 15, 25, 25])
    expect((await api.call(`GET /api/senders/${id}/quota?date=tomorrow`)).status).toBe(422)
  })
})
