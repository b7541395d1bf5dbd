import { useQuery } from '@tanstack/react-query'
import { ListFilter, X } from 'lucide-react'
import { type FormEvent, type ReactNode, useEffect, useState } from 'react'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import { Button } from '../../ui/button'
import { Choice, TextField } from '../../ui/field'
import { InstantField } from '../../ui/instant-field'
import { formatTime, useZone } from '../../ui/time'
import { useDebounced } from '../../ui/use-debounced'
import { type EmailFilter, type FilterChange, type FilterName, othersOf } from './email-filter'

type Change = (change: FilterChange) => void

/** Search, and what else narrows the list. All of it is in the address. */
export function FilterBar({
  filter,
  change,
  children,
}: {
  readonly filter: EmailFilter
  readonly change: Change
  /** What can be done with all that match. */
  readonly children?: ReactNode
}) {
  const [isOpen, setOpen] = useState(false)
  const { q: _, ...narrowing } = othersOf(filter)
  const chosen = Object.keys(narrowing).length
  return (
    <div className="flex flex-col gap-3 border-b p-3 sm:p-4">
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1">
          <Search q={filter.q ?? ''} onChange={(q) => change({ q: q || undefined })} />
        </div>
        <Button icon={<ListFilter />} aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Filter{chosen > 0 && ` (${chosen})`}
        </Button>
        {children}
      </div>
      {isOpen && <Fields filter={filter} change={change} />}
      {chosen > 0 && <Chips filter={narrowing} change={change} />}
    </div>
  )
}

function Search({ q, onChange }: { readonly q: string; readonly onChange: (q: string) => void }) {
  const [typed, setTyped] = useState(q)
  const settled = useDebounced(typed.trim())
  useEffect(() => {
    if (settled !== q) onChange(settled)
    // Only when somebody has typed: the address may also change by itself, and is then followed below.
  }, [settled])
  useEffect(() => setTyped((now) => (now.trim() === q ? now : q)), [q])
  return (
    <TextField
      label="Search"
      hideLabel
      type="search"
      value={typed}
      placeholder="Part of a subject or an address"
      onChange={(event) => setTyped(event.target.value)}
    />
  )
}

function Fields({ filter, change }: { readonly filter: EmailFilter; readonly change: Change }) {
  const { campaigns, senders } = useNames()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const to = (new FormData(event.currentTarget).get('to') as string).trim()
    change({ to: to || undefined })
  }
  return (
    <div className="grid gap-3 sm:grid-cols-2 lg:grid-cols-3">
      <form onSubmit={submit}>
        <TextField
          key={filter.to}
          label="Recipient"
          name="to"
          defaultValue={filter.to}
          placeholder="ada@example.com"
          hint="The whole address; press Enter."
        />
      </form>
      <Choice
        label="Campaign"
        value={filter.campaign_id ?? ''}
        onChange={(event) => change({ campaign_id: event.target.value || undefined })}
      >
        <option value="">Any, or none</option>
        {withChosen(campaigns, filter.campaign_id).map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Choice>
      <Choice
        label="Sender"
        value={filter.sender_id ?? ''}
        onChange={(event) => change({ sender_id: event.target.value || undefined })}
      >
        <option value="">Any</option>
        {withChosen(senders, filter.sender_id).map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </Choice>
      <InstantField
        label="Made after"
        value={filter.created_after ?? null}
        onChange={(at) => change({ created_after: at ?? undefined })}
      />
      <InstantField
        label="Made before"
        value={filter.created_before ?? null}
        onChange={(at) => change({ created_before: at ?? undefined })}
      />
      <Choice
        label="What happened last"
        value={filter.reason_code ?? ''}
        onChange={(event) => change({ reason_code: event.target.value || undefined })}
      >
        <option value="">Anything</option>
        {withChosen(REASONS, filter.reason_code).map(([code, words]) => (
          <option key={code} value={code}>
            {words}
          </option>
        ))}
      </Choice>
    </div>
  )
}

/** The classes of failures, in words. */
const REASONS: ReadonlyMap<string, string> = new Map([
  ['recipient', 'The address was refused'],
  ['sender', 'The sender was refused'],
  ['message', 'The message was refused'],
  ['transient', 'It could not be taken for now'],
  ['throttled', 'The server asked to slow down'],
  ['attempts_exhausted', 'No attempt was left'],
  ['undecidable', 'The reply never came'],
])

const withChosen = (names: ReadonlyMap<string, string>, chosen: string | undefined) =>
  chosen === undefined || names.has(chosen) ? [...names] : [...names, [chosen, chosen] as const]

/** What filters are called where ids would say nothing. */
function useNames() {
  const campaigns = useQuery({
    queryKey: ['campaigns', 'names'],
    queryFn: () => readAll((query) => ask(api.GET('/api/campaigns', { params: { query } })), 500),
    staleTime: 60_000,
  })
  const senders = useQuery({
    queryKey: ['senders', 'names'],
    queryFn: () => readAll((query) => ask(api.GET('/api/senders', { params: { query } }))),
    staleTime: 60_000,
  })
  return {
    campaigns: new Map(campaigns.data?.map(({ id, name }) => [id, name])),
    senders: new Map(senders.data?.map(({ id, address }) => [id, address])),
  }
}

const LABELS: Readonly<Partial<Record<FilterName, string>>> = {
  to: 'to',
  campaign_id: 'campaign',
  sender_id: 'sender',
  reason_code: 'last:',
  created_after: 'made after',
  created_before: 'made before',
}

function Chips({ filter, change }: { readonly filter: EmailFilter; readonly change: Change }) {
  const { campaigns, senders } = useNames()
  const zone = useZone()
  const show = (name: FilterName, value: string) => {
    if (name === 'campaign_id') return campaigns.get(value) ?? value
    if (name === 'sender_id') return senders.get(value) ?? value
    if (name === 'reason_code') return REASONS.get(value) ?? value
    if (!name.startsWith('created_') || Number.isNaN(Date.parse(value))) return value
    return `${formatTime(value, zone, 'short')} ${zone}`
  }
  return (
    <ul className="flex flex-wrap gap-2" aria-label="Filters in use">
      {Object.entries(filter).map(([name, value]) => (
        <li key={name} className="min-w-0">
          <button
            type="button"
            onClick={() => change({ [name]: undefined })}
            className="inline-flex max-w-full items-center gap-1.5 rounded-full border bg-sunken px-2.5 py-0.5 text-xs hover:border-ink"
          >
            <span className="min-w-0 truncate">
              <span className="text-soft">{LABELS[name as FilterName]}</span> {show(name as FilterName, value)}
            </span>
            <X aria-hidden className="size-3.5 shrink-0" />
            <span className="sr-only">: show also others</span>
          </button>
        </li>
      ))}
    </ul>
  )
}
