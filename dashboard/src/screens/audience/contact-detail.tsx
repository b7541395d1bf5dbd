import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useParams } from '@tanstack/react-router'
import { Pencil, ShieldBan, ShieldCheck, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { api, ask } from '../../api/client'
import type { Shape } from '../../api/types'
import { useMayAct } from '../../shell/session'
import { Badge, StatusBadge } from '../../ui/badge'
import { Button } from '../../ui/button'
import { Code } from '../../ui/code'
import { Confirm, Dialog } from '../../ui/dialog'
import { Facts, PageHead, Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'
import { say } from '../../ui/toasts'
import { sequenceChoices } from '../campaigns/campaign-queries'
import { whereIs } from '../sequences/where-is'
import { type ContactFields, ContactForm } from './contact-form'

type Shown = Shape<'ShownContact'>

export function ContactDetail() {
  const { id } = useParams({ strict: false }) as { id: string }
  const contact = useQuery({
    queryKey: ['contacts', id],
    queryFn: () => ask(api.GET('/api/contacts/{id}', { params: { path: { id } } })),
  })
  return <QueryView query={contact}>{(data) => <Detail contact={data} />}</QueryView>
}

function Detail({ contact }: { readonly contact: Shown }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const mayAct = useMayAct()
  const [asked, setAsked] = useState<'edit' | 'remove' | 'suppress' | 'allow' | null>(null)
  const { id, email } = contact
  const refresh = () => client.invalidateQueries({ queryKey: ['contacts'] })
  const change = useMutation({
    meta: { quiet: true },
    mutationFn: (body: ContactFields) => ask(api.PATCH('/api/contacts/{id}', { params: { path: { id } }, body })),
    async onSuccess({ warnings }) {
      setAsked(null)
      say(warnings.length > 0 ? `Saved. ${warnings.join(' ')}` : 'Saved.')
      await refresh()
    },
  })
  const isSuppressed = contact.suppressions.length > 0
  return (
    <>
      <PageHead
        title={contact.name ?? email}
        lead={email}
        actions={
          mayAct && (
            <>
              <Button icon={<Pencil />} onClick={() => setAsked('edit')}>
                Edit
              </Button>
              {isSuppressed ? (
                <Button icon={<ShieldCheck />} onClick={() => setAsked('allow')}>
                  Allow again
                </Button>
              ) : (
                <Button icon={<ShieldBan />} onClick={() => setAsked('suppress')}>
                  Suppress
                </Button>
              )}
              <Button tone="danger" icon={<Trash2 />} onClick={() => setAsked('remove')}>
                Remove
              </Button>
            </>
          )
        }
      />
      {contact.suppressions.map(({ scope, reason, detail, created_at: at }) => (
        <p key={scope} className="mb-4 rounded-lg border border-warn/30 bg-warn-soft p-3 text-sm">
          <strong className="text-warn">{scope === 'all' ? 'Not mailed at all' : 'No marketing mail'}</strong>:{' '}
          {reason.replaceAll('_', ' ')}
          {detail !== null && ` (${detail})`}, since <Time at={at} />
        </p>
      ))}
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="Contact">
          <Facts
            facts={[
              ['Timezone', contact.timezone ?? 'the sender’s'],
              ['Made', <Time key="made" at={contact.created_at} />],
              ['Changed', <Time key="changed" at={contact.updated_at} />],
              [
                'Id',
                <code key="id" className="font-mono text-xs">
                  {id}
                </code>,
              ],
            ]}
          />
          <h3 className="mt-4 mb-1 text-sm font-medium">Attributes</h3>
          <Code text={JSON.stringify(contact.attributes, null, 2)} />
        </Panel>
        <Panel title="Lists">
          {contact.lists.length === 0 && <p className="text-sm text-soft">On no list.</p>}
          <ul className="flex flex-col gap-2 text-sm">
            {contact.lists.map((list) => (
              <li key={list.id} className="flex items-center justify-between gap-2">
                <Link to="/lists/$id" params={{ id: list.id }} className="truncate hover:underline">
                  {list.name}
                </Link>
                <Badge mood={list.subscribed ? 'good' : 'warn'}>{list.subscribed ? 'subscribed' : 'opted out'}</Badge>
              </li>
            ))}
          </ul>
        </Panel>
        <ContactEmails email={email} />
        <ContactWalks contactId={id} />
      </div>
      {asked === 'edit' && (
        <Dialog open onClose={() => setAsked(null)} title="Edit contact">
          <ContactForm
            contact={contact}
            action="Save contact"
            error={change.error}
            busy={change.isPending}
            onCancel={() => setAsked(null)}
            onSubmit={(body) => change.mutate(body)}
          />
        </Dialog>
      )}
      <Confirm
        open={asked === 'remove'}
        onClose={() => setAsked(null)}
        title={`Remove ${email}?`}
        lead="From all lists and walks. What the address opted out of, and its suppressions, stay."
        action="Remove contact"
        tone="danger"
        run={async () => {
          await ask(api.DELETE('/api/contacts/{id}', { params: { path: { id } } }))
          await navigate({ to: '/contacts' })
          await refresh()
        }}
      />
      <Confirm
        open={asked === 'suppress'}
        onClose={() => setAsked(null)}
        title={`Mail ${email} no more?`}
        lead="Neither campaigns nor single emails go there until somebody allows it again."
        action="Suppress address"
        tone="danger"
        run={async () => {
          await ask(api.POST('/api/suppressions', { body: { email, scope: 'all', reason: 'manual', detail: null } }))
          await refresh()
        }}
      />
      <Confirm
        open={asked === 'allow'}
        onClose={() => setAsked(null)}
        title={`Mail ${email} again?`}
        lead="Its server or the person said no once. Only when you know that this has changed."
        action="Allow address"
        run={async () => {
          await ask(api.DELETE('/api/suppressions/{email}', { params: { path: { email } } }))
          await refresh()
        }}
      />
    </>
  )
}

function ContactEmails({ email }: { readonly email: string }) {
  const emails = useQuery({
    queryKey: ['emails', 'of', email],
    queryFn: async () => (await ask(api.GET('/api/emails', { params: { query: { to: email, limit: 10 } } }))).data,
  })
  return (
    <Panel
      title="Emails"
      actions={
        <Link to="/email-queue" search={{ to: email } as never} className="text-xs text-soft underline">
          all of them
        </Link>
      }
    >
      <QueryView query={emails}>
        {(data) =>
          data.length === 0 ? (
            <p className="text-sm text-soft">None yet.</p>
          ) : (
            <ul className="flex flex-col gap-2 text-sm">
              {data.map(({ id, subject, status, created_at: at }) => (
                <li key={id} className="flex items-center gap-3">
                  <StatusBadge status={status} />
                  <Link to="/emails/$id" params={{ id }} className="min-w-0 flex-1 truncate hover:underline">
                    {subject || '(no subject)'}
                  </Link>
                  <Time at={at} />
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </Panel>
  )
}

function ContactWalks({ contactId }: { readonly contactId: string }) {
  const walks = useQuery({
    queryKey: ['enrollments', 'of', contactId],
    queryFn: async () =>
      (await ask(api.GET('/api/enrollments', { params: { query: { contact_id: contactId, limit: 20 } } }))).data,
  })
  const names = new Map(useQuery(sequenceChoices).data?.map(({ id, name }) => [id, name]))
  return (
    <Panel title="Sequences">
      <QueryView query={walks}>
        {(data) =>
          data.length === 0 ? (
            <p className="text-sm text-soft">In no sequence.</p>
          ) : (
            <ul className="flex flex-col gap-2 text-sm">
              {data.map((walk) => (
                <li key={walk.id} className="flex items-center gap-3">
                  <StatusBadge status={walk.state} />
                  <Link
                    to="/enrollments/$id"
                    params={{ id: walk.id }}
                    className="min-w-0 flex-1 truncate hover:underline"
                  >
                    {names.get(walk.sequence_id) ?? 'A sequence'}
                  </Link>
                  <span className="text-xs text-soft">{whereIs(walk)}</span>
                </li>
              ))}
            </ul>
          )
        }
      </QueryView>
    </Panel>
  )
}
