import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { FormEvent } from 'react'
import { api, ask } from '../../api/client'
import { ProblemError } from '../../api/problem'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Choice, TextField, textOf } from '../../ui/field'
import { ProblemNote } from '../../ui/problem-note'
import { refreshSenders } from './sender-queries'

export function NewSender({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const make = useMutation({
    meta: { quiet: true },
    mutationFn: (form: FormData) => {
      const provider = textOf(form, 'provider') === 'capture' ? ('capture' as const) : ('smtp' as const)
      const url = textOf(form, 'smtp_url').trim()
      const body = { address: textOf(form, 'address'), provider, ...(url && provider === 'smtp' && { smtp_url: url }) }
      return ask(api.POST('/api/senders', { body }))
    },
    async onSuccess({ id }) {
      await refreshSenders(client)
      await navigate({ to: '/senders/$id', params: { id } })
    },
  })
  const problem = make.error instanceof ProblemError ? make.error : null
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    make.mutate(new FormData(event.currentTarget))
  }
  return (
    <Dialog open onClose={onClose} title="New sender">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="Address"
          name="address"
          placeholder="Ada <ada@example.com>"
          error={problem?.about('/address')}
          autoFocus
          required
        />
        <Choice label="Provider" name="provider" defaultValue="smtp">
          <option value="smtp">SMTP server</option>
          <option value="capture">Inbox: captured here, never sent</option>
        </Choice>
        <TextField
          label="SMTP URL"
          name="smtp_url"
          placeholder="smtps://user:password@mail.example.com"
          hint="Stored encrypted. Empty: the server of SMTP_URL."
          error={problem?.about('/smtp_url')}
          autoComplete="off"
        />
        {make.isError && <ProblemNote error={make.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Leave it</Button>
          <Button type="submit" tone="primary" busy={make.isPending}>
            Make sender
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
