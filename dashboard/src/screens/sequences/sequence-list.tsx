import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { Plus } from 'lucide-react'
import { api, ask } from '../../api/client'
import { readAll } from '../../api/read-all'
import { useMayAct } from '../../shell/session'
import { Button } from '../../ui/button'
import { Empty } from '../../ui/empty'
import { PageHead, Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'

export function SequenceList() {
  const mayAct = useMayAct()
  const navigate = useNavigate()
  const sequences = useQuery({
    queryKey: ['sequences'],
    queryFn: () => readAll((query) => ask(api.GET('/api/sequences', { params: { query } }))),
  })
  return (
    <>
      <PageHead
        title="Sequences"
        lead="What one person gets over time. A campaign walks people through one."
        actions={
          mayAct && (
            <Button tone="primary" icon={<Plus />} onClick={() => void navigate({ to: '/sequences/new' })}>
              New sequence
            </Button>
          )
        }
      />
      <Panel flush>
        <QueryView query={sequences}>
          {(data) =>
            data.length === 0 ? (
              <Empty
                title="No sequence yet"
                command={'npx postrider sequences create Onboarding --file onboarding.json'}
              >
                Emails one after the other, or a graph that waits for what people do.
              </Empty>
            ) : (
              <ul className="divide-y">
                {data.map(({ id, name, version, steps_count: steps, updated_at: at }) => (
                  <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-3 text-sm">
                    <Link
                      to="/sequences/$id"
                      params={{ id }}
                      className="min-w-0 grow basis-full font-medium break-words hover:underline sm:basis-0"
                    >
                      {name}
                    </Link>
                    <span className="text-soft">
                      {steps} {steps === 1 ? 'email' : 'emails'} · version {version}
                    </span>
                    <Time at={at} />
                  </li>
                ))}
              </ul>
            )
          }
        </QueryView>
      </Panel>
    </>
  )
}
