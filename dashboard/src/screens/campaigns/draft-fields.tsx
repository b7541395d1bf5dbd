import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { CheckBox, Choice, TextField } from '../../ui/field'
import { InstantField } from '../../ui/instant-field'
import { Panel } from '../../ui/panel'
import { ContentFields } from '../templates/content-fields'
import type { Person } from '../templates/contact-choice'
import { templateChoices } from '../templates/template-queries'
import type { PreviewState } from '../templates/use-preview'
import type { Draft } from './campaign-draft'
import { listChoices, senderChoices, sequenceChoices } from './campaign-queries'
import { showNumber } from '../../ui/number'

export interface DraftFieldsProps {
  readonly draft: Draft
  readonly set: (change: Partial<Draft>) => void
  /** What the API said about a field, such as `/name`. */
  readonly about: (pointer: string) => string | undefined
}

const KINDS = [
  ['bulk', 'One email', 'A template to everybody on a list, as fast as it may go.'],
  ['sequence', 'A sequence', 'Several emails over time, which stop when somebody answers.'],
] as const

export function WhatPanel({ draft, set, about }: DraftFieldsProps) {
  return (
    <Panel title="What it is">
      <div className="flex flex-col gap-4">
        <TextField
          label="Name"
          value={draft.name}
          required
          error={about('/name')}
          hint="Templates may show it as {{ campaign.name }}."
          onChange={(event) => set({ name: event.target.value })}
        />
        <fieldset>
          <legend className="mb-1 text-sm font-medium">Kind</legend>
          <div className="grid gap-2 sm:grid-cols-2">
            {KINDS.map(([kind, title, what]) => (
              <label
                key={kind}
                className={`flex cursor-pointer gap-2.5 rounded-lg border p-3 text-sm ${draft.kind === kind ? 'border-accent bg-accent-soft' : ''}`}
              >
                <input
                  type="radio"
                  name="kind"
                  checked={draft.kind === kind}
                  onChange={() => set({ kind, senderIds: draft.senderIds.slice(0, 1) })}
                  className="mt-0.5 size-4 accent-(--accent)"
                />
                <span>
                  <span className="block font-medium">{title}</span>
                  <span className="text-soft">{what}</span>
                </span>
              </label>
            ))}
          </div>
        </fieldset>
      </div>
    </Panel>
  )
}

export function WhomPanel({ draft, set, about }: DraftFieldsProps) {
  const { data: lists } = useQuery(listChoices)
  const { data: senders } = useQuery(senderChoices)
  const fallback = senders?.find(({ is_default: isDefault }) => isDefault)
  const toggle = (id: string) => {
    const chosen = draft.senderIds.length === 0 && fallback ? [fallback.id] : draft.senderIds
    set({ senderIds: chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id] })
  }
  const nameOf = ({ name, address, paused_reason: paused }: NonNullable<typeof senders>[number]) =>
    `${name === null ? address : `${name} <${address}>`}${paused === null ? '' : ' (paused)'}`
  const chosen = draft.senderIds.length === 0 && fallback ? [fallback.id] : draft.senderIds
  return (
    <Panel title="To whom, as whom">
      <div className="flex flex-col gap-4">
        <Choice
          label="List"
          value={draft.listId}
          required
          error={about('/list_id')}
          hint={
            lists?.length === 0 ? (
              <>
                There is no list yet.{' '}
                <Link to="/lists" className="underline">
                  Make one first
                </Link>
              </>
            ) : (
              'Who opted out of it or is suppressed is left out.'
            )
          }
          onChange={(event) => set({ listId: event.target.value })}
        >
          <option value="">Choose a list</option>
          {lists?.map(({ id, name, subscribed, members }) => (
            <option key={id} value={id}>
              {name} — {showNumber(subscribed)} subscribed of {showNumber(members)}
            </option>
          ))}
        </Choice>
        {draft.kind === 'bulk' ? (
          <Choice
            label="Sender"
            value={chosen[0] ?? ''}
            error={about('/sender_id') ?? about('/sender_ids')}
            onChange={(event) => set({ senderIds: [event.target.value] })}
          >
            {senders?.map((sender) => (
              <option key={sender.id} value={sender.id}>
                {nameOf(sender)}
              </option>
            ))}
          </Choice>
        ) : (
          <fieldset>
            <legend className="mb-1 text-sm font-medium">Senders</legend>
            <p className="mb-2 text-xs text-soft">Everybody gets one of these, for all emails of the sequence.</p>
            <div className="flex flex-col gap-1.5">
              {senders?.map((sender) => (
                <CheckBox
                  key={sender.id}
                  label={<span className="min-w-0 break-all">{nameOf(sender)}</span>}
                  checked={chosen.includes(sender.id)}
                  onChange={() => toggle(sender.id)}
                />
              ))}
            </div>
            {about('/sender_ids') !== undefined && (
              <p role="alert" className="mt-1 text-xs text-bad">
                {about('/sender_ids')}
              </p>
            )}
          </fieldset>
        )}
        <TextField
          label="Answers go to"
          placeholder="the sender"
          value={draft.replyTo}
          error={about('/reply_to')}
          onChange={(event) => set({ replyTo: event.target.value })}
        />
      </div>
    </Panel>
  )
}

export function ContentPanel({
  draft,
  set,
  about,
  marks,
  person,
}: DraftFieldsProps & { readonly marks: PreviewState['marks']; readonly person: Person | null }) {
  const { data: templates } = useQuery(templateChoices)
  const { data: sequences } = useQuery(sequenceChoices)
  if (draft.kind === 'sequence')
    return (
      <Panel title="What they get">
        <Choice
          label="Sequence"
          value={draft.sequenceId}
          required
          error={about('/sequence_id') ?? about('/template_id')}
          hint={
            sequences?.length === 0 ? (
              <More text="There is no sequence yet." to="/sequences/new" word="Make one first" />
            ) : (
              'Its newest version at launch is the one they walk.'
            )
          }
          onChange={(event) => set({ sequenceId: event.target.value })}
        >
          <option value="">Choose a sequence</option>
          {sequences?.map(({ id, name, steps_count: steps }) => (
            <option key={id} value={id}>
              {name} — {steps === 1 ? '1 email' : `${steps} emails`}
            </option>
          ))}
        </Choice>
      </Panel>
    )
  const isOwn = draft.templateId === null
  return (
    <Panel title="What they get">
      <div className="flex flex-col gap-4">
        <Choice
          label="Template"
          value={draft.templateId ?? 'own'}
          error={about('/template_id')}
          hint={
            isOwn ? (
              'It is kept as a template when the draft is saved.'
            ) : draft.templateId ? (
              <More
                text="Its newest version at launch is the one that goes out."
                to={`/templates/${draft.templateId}`}
                word="Change it"
              />
            ) : templates?.length === 0 ? (
              <More text="There is no template yet. Write it here, or" to="/templates/new" word="make one first" />
            ) : undefined
          }
          onChange={(event) => set({ templateId: event.target.value === 'own' ? null : event.target.value })}
        >
          <option value="">Choose a template</option>
          <option value="own">Write it here</option>
          {templates?.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </Choice>
        {isOwn && (
          <>
            <TextField
              label="Name of the template"
              placeholder={draft.name || 'as the campaign'}
              value={draft.own.name}
              onChange={(event) => set({ own: { ...draft.own, name: event.target.value } })}
            />
            <ContentFields
              content={draft.own}
              onChange={(content) => set({ own: { ...draft.own, ...content } })}
              marks={marks}
              person={person}
            />
          </>
        )}
      </div>
    </Panel>
  )
}

export function WhenPanel({ draft, set, about }: DraftFieldsProps) {
  return (
    <Panel title="When, and how fast">
      <div className="grid gap-4 sm:grid-cols-2">
        <InstantField
          label="Start"
          hint="At once, when it is launched."
          value={draft.scheduledAt}
          error={about('/scheduled_at')}
          onChange={(scheduledAt) => set({ scheduledAt })}
        />
        <InstantField
          label="Expire"
          hint="Never. What has not gone out by then never does."
          value={draft.expiresAt}
          error={about('/expires_at')}
          onChange={(expiresAt) => set({ expiresAt })}
        />
        {draft.kind === 'bulk' && (
          <>
            <TextField
              label="Hourly limit"
              inputMode="numeric"
              placeholder="none"
              hint="People in any hour, at the most."
              value={draft.hourlyLimit}
              error={about('/hourly_limit')}
              onChange={(event) => set({ hourlyLimit: event.target.value })}
            />
            <TextField
              label="Planned at a time"
              inputMode="numeric"
              placeholder="500"
              hint="1 to 10,000 people. What is planned can still be paused."
              value={draft.batchSize}
              error={about('/batch_size')}
              onChange={(event) => set({ batchSize: event.target.value })}
            />
            <div className="sm:col-span-2">
              <CheckBox
                label="Keep to the sender’s pace: its window and its daily quota"
                checked={draft.followPace}
                onChange={(event) => set({ followPace: event.target.checked })}
              />
              {about('/follow_pace') !== undefined && <p className="text-xs text-bad">{about('/follow_pace')}</p>}
            </div>
          </>
        )}
      </div>
      {draft.kind === 'sequence' && (
        <p className="mt-3 text-xs text-soft">A sequence always keeps to the pace of its senders.</p>
      )}
    </Panel>
  )
}

const More = ({ text, to, word }: { readonly text: ReactNode; readonly to: string; readonly word: string }) => (
  <>
    {text}{' '}
    <Link to={to} className="underline">
      {word}
    </Link>
  </>
)
