import type { Pace } from './sender-queries'
import { showHour } from './pace-words'

/** A pace while it is being written: fields hold what was typed, also when that is not a pace. */
export interface PaceDraft {
  readonly timezone: string
  readonly sending_days: readonly number[]
  readonly start_hour: string
  readonly end_hour: string
  readonly blackout_dates: string
  readonly daily_quota: string
  readonly ramp_up_enabled: boolean
  readonly ramp_up_start: string
  readonly ramp_up_step: string
  readonly gap_min_seconds: string
  readonly gap_max_seconds: string
}

/** What a new pace begins with: office hours where the viewer is. */
const BEGINNING: PaceDraft = {
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  sending_days: [1, 2, 3, 4, 5],
  start_hour: '09:00',
  end_hour: '17:00',
  blackout_dates: '',
  daily_quota: '',
  ramp_up_enabled: false,
  ramp_up_start: '20',
  ramp_up_step: '15',
  gap_min_seconds: '30',
  gap_max_seconds: '90',
}

/** A day ends at 24:00, which a field for times shows as 00:00. */
const showEnd = (hour: number | string) => (showHour(hour) === '24:00' ? '00:00' : showHour(hour))
const readEnd = (text: string) => (text === '00:00' ? '24:00' : text)

export const readDraft = (pace: Pace | null): PaceDraft =>
  pace === null
    ? BEGINNING
    : {
        timezone: pace.timezone,
        sending_days: pace.sending_days,
        start_hour: showHour(pace.start_hour),
        end_hour: showEnd(pace.end_hour),
        blackout_dates: pace.blackout_dates.join(', '),
        daily_quota: pace.daily_quota === null ? '' : String(pace.daily_quota),
        ramp_up_enabled: pace.ramp_up_enabled,
        ramp_up_start: String(pace.ramp_up_start),
        ramp_up_step: String(pace.ramp_up_step),
        gap_min_seconds: String(pace.gap_min_seconds),
        gap_max_seconds: String(pace.gap_max_seconds),
      }

/** What is wrong in it is for the server to say: it says it the same way to everybody. */
export const toBody = (draft: PaceDraft) => ({
  timezone: draft.timezone,
  sending_days: [...draft.sending_days],
  start_hour: draft.start_hour,
  end_hour: readEnd(draft.end_hour),
  blackout_dates: draft.blackout_dates.split(/[\s,]+/).filter((date) => date !== ''),
  daily_quota: draft.daily_quota.trim() === '' ? null : Number(draft.daily_quota),
  ramp_up_enabled: draft.ramp_up_enabled,
  ramp_up_start: Number(draft.ramp_up_start),
  ramp_up_step: Number(draft.ramp_up_step),
  gap_min_seconds: Number(draft.gap_min_seconds),
  gap_max_seconds: Number(draft.gap_max_seconds),
})
