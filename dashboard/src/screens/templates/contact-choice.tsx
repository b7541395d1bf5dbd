import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import type { Shape } from '../../api/types'
import { Choice, TextField } from '../../ui/field'
import { useDebounced } from '../../ui/use-debounced'

export type Person = Pick<Shape<'Contact'>, 'id' | 'email' | 'name' | 'attributes'>

const MOST = 20

/** The newest of a list, or of all; or whoever matches what is typed. */
const peopleQuery = (listId: string | null, q: string) =>
  queryOptions({
    queryKey: ['contacts', 'choices', listId, q],
    placeholderData: keepPreviousData,
    queryFn: async (): Promise<Person[]> => {
      if (q === '' && listId !== null)
        return (
          await ask(api.GET('/api/lists/{id}/contacts', { params: { path: { id: listId }, query: { limit: MOST } } }))
        ).data
      return readAll(
        (page) => ask(api.GET('/api/contacts', { params: { query: { ...page, ...(q !== '' && { q }) } } })),
        MOST,
      )
    },
  })

/** Somebody whose data a preview is made with. The first that is found is chosen until somebody else is. */
export function ContactChoice({
  listId = null,
  none = 'Nobody is found',
  value,
  onChange,
}: {
  readonly listId?: string | null
  /** What stands there when there is nobody to choose. */
  readonly none?: string
  readonly value: Person | null
  readonly onChange: (person: Person | null) => void
}) {
  const [q, setQ] = useState('')
  const { data: people, isPlaceholderData } = useQuery(peopleQuery(listId, useDebounced(q.trim())))
  const known = value === null || people === undefined || people.some(({ id }) => id === value.id)
  const first = people?.[0] ?? null
  useEffect(() => {
    if (people === undefined || isPlaceholderData) return
    if (value === null || !known) onChange(first)
  }, [people, isPlaceholderData, value, known, first, onChange])
  return (
    <div className="grid gap-2 sm:grid-cols-2">
      <TextField
        label="Find somebody"
        type="search"
        placeholder="Part of a name or an address"
        value={q}
        onChange={(event) => setQ(event.target.value)}
      />
      <Choice
        label="Shown as for"
        value={value?.id ?? ''}
        disabled={first === null}
        onChange={(event) => onChange(people?.find(({ id }) => id === event.target.value) ?? null)}
      >
        {first === null && <option value="">{people === undefined ? 'Looking…' : none}</option>}
        {people?.map(({ id, email, name }) => (
          <option key={id} value={id}>
            {name === null ? email : `${name} <${email}>`}
          </option>
        ))}
      </Choice>
    </div>
  )
}
