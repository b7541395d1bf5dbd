import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useRouterState } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../../api/client'
import { sessionQuery } from '../../shell/session'
import { Button } from '../../ui/button'
import { TextField, textOf } from '../../ui/field'
import { ProblemNote } from '../../ui/problem-note'
import { BareFrame } from '../../shell/bare-frame'

/** Whoever has a one-time link chooses a password. The token is behind the #, which no server and no log ever sees. */
export function Setup() {
  const client = useQueryClient()
  const navigate = useNavigate()
  // Not read once: whoever pastes the whole link where half of it was stays on the same page.
  const token = useRouterState({ select: ({ location: { hash } }) => hash })
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const [differs, setDiffers] = useState(false)
  const choose = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    const password = textOf(form, 'password')
    const isSame = password === form.get('again')
    setDiffers(!isSame)
    if (!isSame) return
    setBusy(true)
    setError(null)
    try {
      client.setQueryData(sessionQuery.queryKey, await ask(api.POST('/api/admin/setup', { body: { token, password } })))
      await navigate({ to: '/', replace: true })
    } catch (failure) {
      setError(failure)
      setBusy(false)
    }
  }
  if (token === '')
    return (
      <BareFrame title="This link is not whole">
        <p className="text-sm text-soft">
          Open the link as it was printed, with everything behind the #.{' '}
          <code className="font-mono">postrider admin link</code> makes a new one.
        </p>
      </BareFrame>
    )
  return (
    <BareFrame title="Choose a password">
      <form onSubmit={(event) => void choose(event)} className="flex flex-col gap-4">
        <TextField
          label="Password"
          name="password"
          type="password"
          minLength={10}
          hint="At least 10 characters."
          autoComplete="new-password"
          autoFocus
          required
        />
        <TextField
          label="The same again"
          name="again"
          type="password"
          autoComplete="new-password"
          error={differs ? 'The two are not the same.' : undefined}
          required
        />
        {error !== null && <ProblemNote error={error} />}
        <Button type="submit" tone="primary" busy={busy}>
          Go in
        </Button>
      </form>
    </BareFrame>
  )
}
