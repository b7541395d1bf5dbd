import { z } from '@hono/zod-openapi'
import { OPEN_PACE, type Pace } from '../domain/pace.js'
import { type PaceInput, showHour } from '../domain/read-pace.js'
import { fields, text } from './read-input.js'

/** A pace in the words of the API. What is absent restricts nothing. */
const hour = () =>
  z
    .union([z.number(), text(5)], { error: 'must be a whole hour from 0 to 24, or a time such as "09:30"' })
    .openapi({ description: 'A whole hour, 0 to 24, or a time such as "09:30".', example: 9 })

export const paceSchema = z
  .strictObject({
    timezone: z.string(),
    sending_days: z.array(z.int()).openapi({ description: '1 Monday … 7 Sunday.' }),
    start_hour: z.union([z.int(), z.string()]),
    end_hour: z.union([z.int(), z.string()]),
    blackout_dates: z.array(z.string()),
    daily_quota: z.int().nullable().openapi({ description: 'Null: as many as there are.' }),
    ramp_up_enabled: z.boolean(),
    ramp_up_start: z.int().openapi({ description: 'The quota of the first day.' }),
    ramp_up_step: z.int().openapi({ description: 'By how much it grows each day, up to daily_quota.' }),
    gap_min_seconds: z.int(),
    gap_max_seconds: z.int(),
  })
  .openapi('Pace')

export const paceInput = fields({
  timezone: text(100).optional().openapi({ description: 'A name such as Europe/Paris.', example: 'Europe/Paris' }),
  sending_days: z.array(z.number()).max(100, 'at most 100').optional(),
  start_hour: hour().optional(),
  end_hour: hour().optional(),
  blackout_dates: z.array(text(10)).max(1_000, 'at most 1000 dates').optional(),
  daily_quota: z.number().nullable().optional(),
  ramp_up_enabled: z.boolean().optional(),
  ramp_up_start: z.number().optional(),
  ramp_up_step: z.number().optional(),
  gap_min_seconds: z.number().optional(),
  gap_max_seconds: z.number().optional(),
}).openapi('PaceInput')

export const toPaceInput = (json: z.output<typeof paceInput>): PaceInput => ({
  ...(json.timezone !== undefined && { timezone: json.timezone }),
  ...(json.sending_days !== undefined && { sendingDays: json.sending_days }),
  ...(json.start_hour !== undefined && { startHour: json.start_hour }),
  ...(json.end_hour !== undefined && { endHour: json.end_hour }),
  ...(json.blackout_dates !== undefined && { blackoutDates: json.blackout_dates }),
  ...(json.daily_quota !== undefined && { dailyQuota: json.daily_quota }),
  ...(json.ramp_up_enabled !== undefined && { rampUpEnabled: json.ramp_up_enabled }),
  ...(json.ramp_up_start !== undefined && { rampUpStart: json.ramp_up_start }),
  ...(json.ramp_up_step !== undefined && { rampUpStep: json.ramp_up_step }),
  ...(json.gap_min_seconds !== undefined && { gapMinSeconds: json.gap_min_seconds }),
  ...(json.gap_max_seconds !== undefined && { gapMaxSeconds: json.gap_max_seconds }),
})

/** A sender without a pace is as one whose pace restricts nothing. */
export const toPace = (pace: Pace | null): z.input<typeof paceSchema> => {
  const shown = pace ?? OPEN_PACE
  return {
    timezone: shown.timezone,
    sending_days: [...shown.sendingDays],
    start_hour: showHour(shown.startMinute),
    end_hour: showHour(shown.endMinute),
    blackout_dates: [...shown.blackoutDates],
    daily_quota: shown.dailyQuota,
    ramp_up_enabled: shown.rampUpEnabled,
    ramp_up_start: shown.rampUpStart,
    ramp_up_step: shown.rampUpStep,
    gap_min_seconds: shown.gapMinSeconds,
    gap_max_seconds: shown.gapMaxSeconds,
  }
}
