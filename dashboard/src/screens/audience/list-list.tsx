import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import { useMayAct } from '../../shell/session'
import { Button } from '../../ui/button'
import { Dialog } from '../../ui/dialog'
import { Empty } from '../../ui/empty'
import { TextField, textOf } from '../../ui/field'
import { PageHead, Panel } from '../../ui/panel'
import { ProblemNote } from '../../ui/problem-note'
import { QueryView } from '../../ui/query-view'
import { RecentImports } from './recent-imports'
import { showNumber } from '../../ui/number'

export function ListList() {
  const mayAct = useMayAct()
  const [isNew, setNew] = useState(false)
  const lists = useQuery({
    queryKey: ['lists'],
    queryFn: () => readAll((query) => ask(api.GET('/api/lists', { params: { query } }))),
  })
  return (
    <>
      <PageHead
        title="Lists"
        lead="Who campaigns go to. Opting out of one list leaves the others."
        actions={
          mayAct && (
            <Button tone="primary" icon={<Plus />} onClick={() => setNew(true)}>
              New list
            </Button>
          )
        }
      />
      <div className="flex flex-col gap-4">
        <Panel flush>
          <QueryView query={lists}>
            {(data) =>
              data.length === 0 ? (
                <Empty title="No list yet" command="npx postrider import people.csv --list Newsletter">
                  An import makes the list it names.
                </Empty>
              ) : (
                <ul className="divide-y">
                  {data.map(({ id, name, description, members, subscribed }) => (
                    <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 text-sm">
                      <div className="min-w-0 flex-1">
                        <Link to="/lists/$id" params={{ id }} className="font-medium break-words hover:underline">
                          {name}
                        </Link>
                        {description !== null && <p className="truncate text-xs text-soft">{description}</p>}
                      </div>
                      <p className="text-soft tabular-nums">
                        {showNumber(subscribed)} subscribed of {showNumber(members)}
                      </p>
                    </li>
                  ))}
                </ul>
              )
            }
          </QueryView>
        </Panel>
        <RecentImports />
      </div>
      {isNew && <NewList onClose={() => setNew(false)} />}
    </>
  )
}

function NewList({ onClose }: { readonly onClose: () => void }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const make = useMutation({
    meta: { quiet: true },
    mutationFn: (form: FormData) =>
      ask(
        api.POST('/api/lists', {
          body: { name: textOf(form, 'name'), description: textOf(form, 'description') || null },
        }),
      ),
    async onSuccess({ id }) {
      await client.invalidateQueries({ queryKey: ['lists'] })
      await navigate({ to: '/lists/$id', params: { id } })
    },
  })
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    make.mutate(new FormData(event.currentTarget))
  }
  return (
    <Dialog open onClose={onClose} title="New list">
      <form onSubmit={submit} className="flex flex-col gap-4">
        <TextField
          label="Name"
          name="name"
          placeholder="Newsletter"
          hint="People see it when they unsubscribe."
          autoFocus
          required
        />
        <TextField label="Description" name="description" />
        {make.isError && <ProblemNote error={make.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Leave it</Button>
          <Button type="submit" tone="primary" busy={make.isPending}>
            Make list
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
