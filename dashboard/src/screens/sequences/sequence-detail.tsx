import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import { useMayAct } from '../../shell/session'
import { Badge, StatusBadge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Confirm } from '../../ui/dialog'
import { Empty } from '../../ui/empty'
import { Choice } from '../../ui/field'
import { PageHead, Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'
import { EnrollmentTable } from './enrollment-table'
import { GraphView } from './graph-view'
import { templateChoices } from '../templates/template-queries'
import { campaignsOfQuery, type Sequence, sequenceQuery } from './sequence-queries'
import { showNumber } from '../../ui/number'

export function SequenceDetail() {
  const { id } = useParams({ strict: false }) as { id: string }
  return <QueryView query={useQuery(sequenceQuery(id))}>{(sequence) => <Detail sequence={sequence} />}</QueryView>
}

function Detail({ sequence }: { readonly sequence: Sequence }) {
  const { id, name } = sequence
  const client = useQueryClient()
  const navigate = useNavigate()
  const mayAct = useMayAct()
  const [removing, setRemoving] = useState(false)
  const search = useSearch({ strict: false }) as { campaign?: string }
  const campaigns = useQuery(campaignsOfQuery(id)).data ?? []
  const campaign = campaigns.find((one) => one.id === search.campaign) ?? campaigns[0]
  return (
    <>
      <PageHead
        title={name}
        lead={
          <>
            Version {sequence.version}, {sequence.steps_count} {sequence.steps_count === 1 ? 'email' : 'emails'},
            changed <Time at={sequence.updated_at} />. Campaigns keep the version they were launched with.
          </>
        }
        actions={
          mayAct && (
            <>
              <Button icon={<Pencil />} onClick={() => void navigate({ to: '/sequences/$id/edit', params: { id } })}>
                Edit
              </Button>
              <Button tone="danger" icon={<Trash2 />} onClick={() => setRemoving(true)}>
                Remove
              </Button>
            </>
          )
        }
      />
      <div className="flex flex-col gap-4">
        <Panel
          title="Where people are"
          flush
          actions={
            campaigns.length > 0 && (
              <Choice
                label="Campaign"
                hideLabel
                value={campaign?.id ?? ''}
                onChange={(event) =>
                  void navigate({
                    to: '/sequences/$id',
                    params: { id },
                    search: { campaign: event.target.value } as never,
                  })
                }
              >
                {campaigns.map((one) => (
                  <option key={one.id} value={one.id}>
                    {one.name} ({one.status})
                  </option>
                ))}
              </Choice>
            )
          }
        >
          {campaign ? <Funnel sequence={sequence} campaignId={campaign.id} /> : <Plain sequence={sequence} />}
        </Panel>
        {campaign ? (
          <EnrollmentTable campaignId={campaign.id} />
        ) : (
          <Panel>
            <Empty
              title="Nobody walks it yet"
              actions={
                mayAct && (
                  <Link to="/campaigns/new" search={{ sequence: id } as never} className="text-sm underline">
                    New campaign with this sequence
                  </Link>
                )
              }
            >
              A campaign brings a list and its senders to it.
            </Empty>
          </Panel>
        )}
        <Panel title="Versions">
          <ul className="flex flex-col gap-1 text-sm">
            {sequence.versions.map(({ version, created_at: at }) => (
              <li key={version} className="flex gap-3">
                <span className="tabular-nums">version {version}</span> <Time at={at} />
                {version === sequence.version && <Badge mood="good">newest</Badge>}
              </li>
            ))}
          </ul>
        </Panel>
      </div>
      <Confirm
        open={removing}
        onClose={() => setRemoving(false)}
        title={`Remove ${name}?`}
        lead="With all its versions. Not while a campaign names it."
        action="Remove sequence"
        tone="danger"
        run={async () => {
          await ask(api.DELETE('/api/sequences/{id}', { params: { path: { id } } }))
          await navigate({ to: '/sequences' })
          await client.invalidateQueries({ queryKey: ['sequences'] })
        }}
      />
    </>
  )
}

const useTemplateName = () => {
  const templates = useQuery(templateChoices).data ?? []
  return (id: string) => templates.find((one) => one.id === id)?.name ?? id
}

const Plain = ({ sequence }: { readonly sequence: Sequence }) => (
  <GraphView start={sequence.start} nodes={sequence.nodes} templateName={useTemplateName()} />
)

/** The version the campaign was launched with, and how many are at each of its nodes. */
function Funnel({ sequence, campaignId }: { readonly sequence: Sequence; readonly campaignId: string }) {
  const templateName = useTemplateName()
  const funnel = useQuery({
    queryKey: ['enrollments', 'funnel', campaignId],
    queryFn: () => ask(api.GET('/api/campaigns/{id}/funnel', { params: { path: { id: campaignId } } })),
    refetchInterval: 15_000,
  })
  const version = useQuery({
    queryKey: ['sequences', sequence.id, 'version', funnel.data?.version],
    enabled: funnel.data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () =>
      ask(
        api.GET('/api/sequences/{id}/versions/{version}', {
          params: { path: { id: sequence.id, version: String(funnel.data!.version) } },
        }),
      ),
  })
  return (
    <QueryView query={funnel}>
      {({ nodes, ending, completed, stopped }) => {
        const of = new Map(nodes.map((one) => [one.node, one]))
        return (
          <>
            <GraphView
              start={version.data?.start ?? sequence.start}
              nodes={version.data?.nodes ?? sequence.nodes}
              templateName={templateName}
              note={(id) => {
                const one = of.get(id)
                if (!one) return null
                return (
                  <>
                    {one.sent !== null && <Badge mood="good">{showNumber(one.sent)} sent</Badge>}
                    {one.here > 0 && <Badge mood="calm">{showNumber(one.here)} here</Badge>}
                    {one.coming > 0 && (
                      <Badge mood={one.type === 'send' ? 'calm' : 'plain'}>
                        {showNumber(one.coming)} {one.type === 'send' ? 'get it next' : 'coming'}
                      </Badge>
                    )}
                    {one.paused > 0 && <Badge mood="warn">{showNumber(one.paused)} paused</Badge>}
                  </>
                )
              }}
            />
            <p className="flex flex-wrap items-center gap-2 border-t px-4 py-3 text-sm text-soft">
              {ending > 0 && `${showNumber(ending)} on the last stretch · `}
              <StatusBadge status="completed" /> {showNumber(completed)} came to the end ·{' '}
              <StatusBadge status="stopped" /> {showNumber(stopped)} stopped on the way (replied, bounced, unsubscribed,
              or by hand)
            </p>
          </>
        )
      }}
    </QueryView>
  )
}
