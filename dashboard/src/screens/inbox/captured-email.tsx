import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { ArrowLeft } from 'lucide-react'
import { useMemo } from 'react'
import { api, apiUrl, ask } from '../../api/client'
import type { Shape } from '../../api/types'
import { AttachmentList, formatSize } from '../../ui/attachment-list'
import { Code } from '../../ui/code'
import { EmailFrame } from '../../ui/email-frame'
import { HeaderList } from '../../ui/header-list'
import { Facts, PageHead, Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { RawSource } from '../../ui/raw-source'
import { Tabs } from '../../ui/tabs'
import { Time } from '../../ui/time'
import { useInlinePictures } from '../../ui/use-inline-pictures'

type Captured = Shape<'CapturedEmail'>

/** One captured email, as a mail client would show it. */
export function CapturedEmail() {
  const { id } = useParams({ strict: false }) as { id: string }
  const captured = useQuery({
    queryKey: ['captured', id],
    queryFn: () => ask(api.GET('/api/inbox/{id}', { params: { path: { id } } })),
    // What was captured never changes.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return (
    <>
      <Link to="/inbox" className="mb-2 inline-flex items-center gap-1 text-sm text-soft hover:text-ink">
        <ArrowLeft aria-hidden className="size-4" /> Inbox
      </Link>
      <QueryView query={captured}>{(data) => <Detail key={data.id} email={data} />}</QueryView>
    </>
  )
}

function Detail({ email }: { readonly email: Captured }) {
  const { id, html, text, attachments, headers } = email
  const urlOf = (place: number) => apiUrl(`/api/inbox/${id}/attachments/${place}`)
  const pictures = useMemo(
    () =>
      attachments.flatMap(({ content_id: contentId, content_type: type }, place) =>
        contentId !== null && type.startsWith('image/') ? [{ contentId, url: urlOf(place) }] : [],
      ),
    [id, attachments],
  )
  const inline = useInlinePictures(pictures)
  const tabs = [
    ...(html === null
      ? []
      : [
          {
            id: 'html',
            label: 'HTML',
            content: <EmailFrame html={html} title="The email as it arrives" inline={inline} widths />,
          },
        ]),
    { id: 'text', label: 'Text', content: text === null ? <NoText /> : <Code text={text} tall /> },
    { id: 'headers', label: `Headers (${headers.length})`, content: <HeaderList headers={headers} /> },
    { id: 'raw', label: 'Raw', content: <RawSource url={apiUrl(`/api/inbox/${id}/raw`)} /> },
    {
      id: 'attachments',
      label: `Attachments (${attachments.length})`,
      content: <AttachmentList attachments={attachments} urlOf={urlOf} />,
    },
  ]
  const list = (values: readonly string[]) => (values.length === 0 ? '—' : values.join(', '))
  return (
    <>
      <PageHead title={email.subject || 'No subject'} lead={`to ${email.recipient}`} />
      <div className="grid gap-4 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <Panel flush>
          <Tabs label="Forms of the email" tabs={tabs} />
        </Panel>
        <Panel title="About it" className="lg:self-start">
          <Facts
            facts={[
              ['From', email.from ?? '—'],
              ['To', list(email.to)],
              ...(email.cc.length > 0 ? [['Cc', list(email.cc)] as const] : []),
              ...(email.reply_to.length > 0 ? [['Reply-To', list(email.reply_to)] as const] : []),
              ['Envelope from', email.return_path || '—'],
              ['Envelope to', email.recipient],
              ['Captured', <Time key="at" at={email.captured_at} />],
              ['Size', formatSize(email.size)],
              [
                'Sent as',
                <Link
                  key="email"
                  to="/emails/$id"
                  params={{ id: email.email_id }}
                  className="underline underline-offset-2"
                >
                  this email in the queue
                </Link>,
              ],
            ]}
          />
        </Panel>
      </div>
    </>
  )
}

const NoText = () => <p className="text-sm text-soft">It has no text part: who reads without HTML sees nothing.</p>
