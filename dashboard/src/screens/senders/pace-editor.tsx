import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import { ProblemError } from '../../api/problem'
import { Button } from '../../ui/button'
import { CheckBox, TextField } from '../../ui/field'
import { Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { say } from '../../ui/toasts'
import { PacePreview } from './pace-preview'
import { type PaceDraft, readDraft, toBody } from './pace-draft'
import { refreshSenders, type Sender } from './sender-queries'

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const TIMEZONES = Intl.supportedValuesOf('timeZone')

/** When and how fast a sender may send, beside what that would mean. */
export function PaceEditor({ sender, mayAct }: { readonly sender: Sender; readonly mayAct: boolean }) {
  const client = useQueryClient()
  const [draft, setDraft] = useState<PaceDraft>(() => readDraft(sender.pace))
  const [restricted, setRestricted] = useState(sender.pace !== null)
  const set = (change: Partial<PaceDraft>) => setDraft({ ...draft, ...change })
  const save = useMutation({
    meta: { quiet: true },
    mutationFn: () =>
      ask(
        api.PATCH('/api/senders/{id}', {
          params: { path: { id: sender.id } },
          body: { pace: restricted ? toBody(draft) : null },
        }),
      ),
    async onSuccess() {
      say('The pace is saved. What is booked already is asked again when its turn comes.')
      await refreshSenders(client)
    },
  })
  const about = (field: string) => (save.error instanceof ProblemError ? save.error.about(`/pace/${field}`) : undefined)
  const text = (field: keyof PaceDraft, label: string, hint?: string, type = 'text') => (
    <TextField
      label={label}
      type={type}
      value={String(draft[field])}
      disabled={!mayAct}
      error={about(field)}
      {...(hint !== undefined && { hint })}
      onChange={(event) => set({ [field]: event.target.value })}
    />
  )
  const toggleDay = (day: number) =>
    set({
      sending_days: draft.sending_days.includes(day)
        ? draft.sending_days.filter((one) => one !== day)
        : [...draft.sending_days, day].toSorted((a, b) => a - b),
    })
  return (
    <Panel
      title="Pace"
      actions={
        mayAct && (
          <Button tone="primary" small busy={save.isPending} onClick={() => save.mutate()}>
            Save pace
          </Button>
        )
      }
    >
      <div className="mb-4">
        <CheckBox
          label="Only at certain times, and only so many"
          checked={restricted}
          disabled={!mayAct}
          onChange={(event) => setRestricted(event.target.checked)}
        />
      </div>
      {!restricted && <p className="text-sm text-soft">It sends at any time, as much as there is.</p>}
      {restricted && (
        <div className="grid gap-6 lg:grid-cols-2">
          <div className="flex flex-col gap-4">
            <TextField
              label="Timezone"
              list="timezones"
              value={draft.timezone}
              disabled={!mayAct}
              error={about('timezone')}
              onChange={(event) => set({ timezone: event.target.value })}
            />
            <datalist id="timezones">
              {TIMEZONES.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
            <fieldset disabled={!mayAct}>
              <legend className="mb-1 text-sm font-medium">Sending days</legend>
              <div className="flex flex-wrap gap-x-4 gap-y-2">
                {DAYS.map((name, i) => (
                  <CheckBox
                    key={name}
                    label={name}
                    checked={draft.sending_days.includes(i + 1)}
                    onChange={() => toggleDay(i + 1)}
                  />
                ))}
              </div>
              {about('sending_days') !== undefined && <p className="mt-1 text-xs text-bad">{about('sending_days')}</p>}
            </fieldset>
            <div className="grid grid-cols-2 gap-3">
              {text('start_hour', 'From', undefined, 'time')}
              {text('end_hour', 'Until', '00:00 is midnight, the end of the day.', 'time')}
            </div>
            {text('blackout_dates', 'Never on', 'Dates such as 2026-12-25, with commas between.')}
            {text('daily_quota', 'At most a day', 'Empty: as many as there are.', 'number')}
            <CheckBox
              label="Begin slowly (ramp-up)"
              checked={draft.ramp_up_enabled}
              disabled={!mayAct}
              onChange={(event) => set({ ramp_up_enabled: event.target.checked })}
            />
            {draft.ramp_up_enabled && (
              <div className="grid grid-cols-2 gap-3">
                {text('ramp_up_start', 'First day', undefined, 'number')}
                {text('ramp_up_step', 'More each day', undefined, 'number')}
              </div>
            )}
            <div className="grid grid-cols-2 gap-3">
              {text('gap_min_seconds', 'Seconds apart, at least', undefined, 'number')}
              {text('gap_max_seconds', 'At most', undefined, 'number')}
            </div>
            {save.isError && <ProblemNote error={save.error} />}
          </div>
          <PacePreview draft={draft} senderId={sender.id} />
        </div>
      )}
      {!restricted && save.isError && <ProblemNote error={save.error} />}
    </Panel>
  )
}
