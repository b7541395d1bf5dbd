import { useEffect, useState } from 'react'
import { TextField } from './field'
import { describeDistance, useZone } from './time'
import { toInstant, toWallTime } from './zoned-time'

/** A time somebody chooses, in the zone all times are shown in, which is named. Null: none is chosen. */
export function InstantField({
  label,
  value,
  onChange,
  hint,
  error,
  disabled,
}: {
  readonly label: string
  readonly value: string | null
  readonly onChange: (value: string | null) => void
  readonly hint?: string
  readonly error?: string | undefined
  readonly disabled?: boolean
}) {
  const zone = useZone()
  const [wall, setWall] = useState(() => (value === null ? '' : toWallTime(value, zone)))
  // Chosen elsewhere, or shown in another zone now. What is half typed is nothing yet, and stays.
  useEffect(() => {
    setWall((typed) => {
      if (value === null) return typed !== '' && toInstant(typed, zone) !== null ? '' : typed
      return toInstant(typed, zone) === value ? typed : toWallTime(value, zone)
    })
  }, [value, zone])
  return (
    <TextField
      type="datetime-local"
      label={`${label} (${zone})`}
      hint={value === null ? hint : `${describeDistance(value)} · ${value.slice(0, 16).replace('T', ' ')} UTC`}
      error={error}
      value={wall}
      disabled={disabled}
      onChange={(event) => {
        setWall(event.target.value)
        onChange(toInstant(event.target.value, zone))
      }}
    />
  )
}
