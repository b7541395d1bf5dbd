import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../../api/client'
import { sessionQuery } from '../../shell/session'
import { Button } from '../../ui/button'
import { TextField, textOf } from '../../ui/field'
import { ProblemNote } from '../../ui/problem-note'
import { BareFrame } from '../../shell/bare-frame'

export function Login() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { next } = useSearch({ strict: false }) as { next?: string }
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const logIn = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    setError(null)
    try {
      const body = { name: textOf(form, 'name'), password: textOf(form, 'password') }
      client.setQueryData(sessionQuery.queryKey, await ask(api.POST('/api/admin/login', { body })))
      await navigate({ to: next?.startsWith('/') && !next.startsWith('//') ? next : '/' })
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  return (
    <BareFrame title="Log in">
      <form onSubmit={(event) => void logIn(event)} className="flex flex-col gap-4">
        <TextField label="Name" name="name" defaultValue="admin" autoComplete="username" required />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          autoFocus
          required
        />
        {error !== null && <ProblemNote error={error} />}
        <Button type="submit" tone="primary" busy={busy}>
          Log in
        </Button>
        <p className="text-xs text-soft">
          The password is POSTRIDER_ADMIN_PASSWORD, or the one chosen with the set-up link that Postrider printed when
          it started. Locked out? <code className="font-mono">postrider admin link</code> makes a new link.
        </p>
      </form>
    </BareFrame>
  )
}
