import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Plus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import type { Shape } from '../../api/types'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Code } from '../../ui/code'
import { Confirm, Dialog } from '../../ui/dialog'
import { Empty } from '../../ui/empty'
import { CheckBox, TextField, textOf } from '../../ui/field'
import { Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'
import { SettingsFrame } from './settings-frame'

type ApiKey = Shape<'ApiKey'>
const SCOPES = [
  ['send', 'accept emails and report events'],
  ['read', 'see everything'],
  ['manage', 'decide about emails, change senders, campaigns, contacts'],
  ['admin', 'make and revoke keys, let people in'],
] as const

export function ApiKeys() {
  const [isNew, setNew] = useState(false)
  return (
    <SettingsFrame
      lead="What programs use to talk to Postrider."
      operatorsOnly
      actions={
        <Button tone="primary" icon={<Plus />} onClick={() => setNew(true)}>
          New key
        </Button>
      }
    >
      <KeyTable />
      {isNew && <NewKey onClose={() => setNew(false)} />}
    </SettingsFrame>
  )
}

function KeyTable() {
  const client = useQueryClient()
  const [revoking, setRevoking] = useState<ApiKey | null>(null)
  const keys = useQuery({
    queryKey: ['settings', 'keys'],
    queryFn: () => readAll((query) => ask(api.GET('/api/api-keys', { params: { query } }))),
  })
  return (
    <Panel flush>
      <QueryView query={keys}>
        {(data) =>
          data.length === 0 ? (
            <Empty title="No key yet" command="npx postrider keys create --name shop --scope send">
              A program needs one to send an email. It is shown once, when it is made.
            </Empty>
          ) : (
            <ul className="divide-y">
              {data.map((key) => (
                <li key={key.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 text-sm">
                  <div className="min-w-40 flex-1">
                    <p className="font-medium break-words">{key.name}</p>
                    <p className="font-mono text-xs text-soft">{key.prefix}…</p>
                  </div>
                  <div className="flex gap-1">
                    {key.scopes.map((scope) => (
                      <Badge key={scope}>{scope}</Badge>
                    ))}
                  </div>
                  <p className="text-xs text-soft">
                    made <Time at={key.created_at} /> · used <Time at={key.last_used_at} empty="never" />
                  </p>
                  {key.revoked_at === null ? (
                    <Button small tone="danger" onClick={() => setRevoking(key)}>
                      Revoke
                    </Button>
                  ) : (
                    <Badge mood="warn">revoked</Badge>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
      {revoking && (
        <Confirm
          open
          onClose={() => setRevoking(null)}
          title={`Revoke ${revoking.name}?`}
          lead="Whatever uses it is refused from now on, in every process within five seconds. This cannot be undone."
          action="Revoke key"
          tone="danger"
          run={async () => {
            await ask(api.DELETE('/api/api-keys/{id}', { params: { path: { id: revoking.id } } }))
            await client.invalidateQueries({ queryKey: ['settings', 'keys'] })
          }}
        />
      )}
    </Panel>
  )
}

function NewKey({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const make = useMutation({
    meta: { quiet: true },
    mutationFn: (form: FormData) => {
      const scopes = SCOPES.map(([scope]) => scope).filter((scope) => form.has(scope))
      return ask(api.POST('/api/api-keys', { body: { name: textOf(form, 'name'), scopes } }))
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['settings', 'keys'] }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    make.mutate(new FormData(event.currentTarget))
  }
  if (make.data)
    return (
      <Dialog open onClose={onClose} title="The new key" lead="It is shown this once. Only its hash is kept.">
        <Code text={make.data.key} />
        <div className="flex justify-end">
          <Button tone="primary" onClick={onClose}>
            I have it
          </Button>
        </div>
      </Dialog>
    )
  return (
    <Dialog open onClose={onClose} title="New API key">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="Name"
          name="name"
          placeholder="shop"
          hint="Who uses it. Shown in the history of what was decided."
          autoFocus
          required
        />
        <fieldset className="flex flex-col gap-2">
          <legend className="mb-1 text-sm font-medium">It may</legend>
          {SCOPES.map(([scope, what]) => (
            <CheckBox
              key={scope}
              name={scope}
              label={
                <>
                  <strong>{scope}</strong> <span className="text-soft">{what}</span>
                </>
              }
              defaultChecked={scope === 'send'}
            />
          ))}
        </fieldset>
        {make.isError && <ProblemNote error={make.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Leave it</Button>
          <Button type="submit" tone="primary" busy={make.isPending}>
            Make key
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
