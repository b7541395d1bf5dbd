import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { UserPlus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import type { Shape } from '../../api/types'
import { useSession } from '../../shell/session'
import { Badge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Code } from '../../ui/code'
import { Confirm, Dialog } from '../../ui/dialog'
import { Empty } from '../../ui/empty'
import { Choice, TextField, textOf } from '../../ui/field'
import { Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'
import { SettingsFrame } from './settings-frame'

type Person = Shape<'DashboardUser'>
type Linked = Shape<'LinkedDashboardUser'>

export function People() {
  const [isNew, setNew] = useState(false)
  return (
    <SettingsFrame
      lead="Who may look at this dashboard, and who may act."
      operatorsOnly
      actions={
        <Button tone="primary" icon={<UserPlus />} onClick={() => setNew(true)}>
          Let somebody in
        </Button>
      }
    >
      <PeopleTable />
      {isNew && <Invite onClose={() => setNew(false)} />}
    </SettingsFrame>
  )
}

function PeopleTable() {
  const client = useQueryClient()
  const me = useSession()?.name
  const [disabling, setDisabling] = useState<Person | null>(null)
  const people = useQuery({
    queryKey: ['settings', 'people'],
    queryFn: () => readAll((query) => ask(api.GET('/api/admin/users', { params: { query } }))),
  })
  const refresh = () => client.invalidateQueries({ queryKey: ['settings', 'people'] })
  const link = useMutation({
    mutationFn: ({ id }: Person) => ask(api.POST('/api/admin/users/{id}/link', { params: { path: { id } } })),
    onSuccess: refresh,
  })
  return (
    <Panel flush>
      <QueryView query={people}>
        {(data) =>
          data.length === 0 ? (
            <Empty title="Nobody but the admin" command="npx postrider admin link --name ada --role viewer">
              Whoever has POSTRIDER_ADMIN_PASSWORD logs in as admin. Others get a link of their own.
            </Empty>
          ) : (
            <ul className="divide-y">
              {data.map((person) => (
                <li key={person.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 text-sm">
                  <p className="min-w-32 flex-1 font-medium break-words">
                    {person.name} {person.name === me && <span className="font-normal text-soft">(you)</span>}
                  </p>
                  <Badge mood={person.role === 'operator' ? 'calm' : 'plain'}>{person.role}</Badge>
                  {person.disabled_at !== null && <Badge mood="warn">disabled</Badge>}
                  {!person.has_password && person.disabled_at === null && <Badge>has not used the link</Badge>}
                  <p className="text-xs text-soft">
                    seen <Time at={person.seen_at} empty="never, or long ago" />
                  </p>
                  <span className="flex gap-2">
                    <Button
                      small
                      busy={link.isPending && link.variables.id === person.id}
                      onClick={() => link.mutate(person)}
                    >
                      New link
                    </Button>
                    {person.disabled_at === null && person.name !== me && (
                      <Button small tone="danger" onClick={() => setDisabling(person)}>
                        Disable
                      </Button>
                    )}
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
      {disabling && (
        <Confirm
          open
          onClose={() => setDisabling(null)}
          title={`Disable ${disabling.name}?`}
          lead="Their sessions end at once and their password is forgotten. A new link lets them in again."
          action="Disable"
          tone="danger"
          run={async () => {
            await ask(api.DELETE('/api/admin/users/{id}', { params: { path: { id: disabling.id } } }))
            await refresh()
          }}
        />
      )}
      {link.data && <ShownLink linked={link.data} onClose={() => link.reset()} />}
    </Panel>
  )
}

function ShownLink({ linked, onClose }: { readonly linked: Linked; readonly onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={`A link for ${linked.name}`}
      lead="Whoever opens it first chooses the password. It works once, and is not shown again."
    >
      <Code text={linked.setup_url} />
      <p className="text-xs text-soft">
        Until <Time at={linked.setup_expires_at} />
      </p>
      <div className="flex justify-end">
        <Button tone="primary" onClick={onClose}>
          I have it
        </Button>
      </div>
    </Dialog>
  )
}

function Invite({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const invite = useMutation({
    meta: { quiet: true },
    mutationFn: (form: FormData) => {
      const role = textOf(form, 'role') === 'operator' ? ('operator' as const) : ('viewer' as const)
      return ask(api.POST('/api/admin/users', { body: { name: textOf(form, 'name'), role } }))
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ['settings', 'people'] }),
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    invite.mutate(new FormData(event.currentTarget))
  }
  if (invite.data) return <ShownLink linked={invite.data} onClose={onClose} />
  return (
    <Dialog
      open
      onClose={onClose}
      title="Let somebody in"
      lead="They get a link with which they choose their password."
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField label="Name" name="name" placeholder="ada" autoFocus required />
        <Choice label="Role" name="role" defaultValue="viewer">
          <option value="viewer">viewer: looks, changes nothing</option>
          <option value="operator">operator: may do everything</option>
        </Choice>
        {invite.isError && <ProblemNote error={invite.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Leave it</Button>
          <Button type="submit" tone="primary" busy={invite.isPending}>
            Make link
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
