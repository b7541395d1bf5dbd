import { useMemo } from 'react'
import { apiUrl } from '../../api/client'
import type { Shape } from '../../api/types'
import { AttachmentList } from '../../ui/attachment-list'
import { Code } from '../../ui/code'
import { EmailFrame } from '../../ui/email-frame'
import { HeaderList } from '../../ui/header-list'
import { Panel } from '../../ui/panel'
import { RawSource } from '../../ui/raw-source'
import { Tabs } from '../../ui/tabs'
import { useInlinePictures } from '../../ui/use-inline-pictures'

type Email = Shape<'Email'>

/** What the recipient gets, in every form it has. */
export function EmailPreview({ email }: { readonly email: Email }) {
  const urlOf = (place: number) => apiUrl(`/api/emails/${email.id}/attachments/${place}`)
  const pictures = useMemo(
    () =>
      email.attachments.flatMap(({ content_id: contentId, content_type: type }, place) =>
        contentId !== null && type.startsWith('image/') ? [{ contentId, url: urlOf(place) }] : [],
      ),
    [email.id, email.attachments.length],
  )
  const inline = useInlinePictures(pictures)
  const { html, text, calendar, attachments } = email
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
    ...(text === null ? [] : [{ id: 'text', label: 'Text', content: <Code text={text} tall /> }]),
    { id: 'headers', label: 'Headers', content: <HeaderList headers={headersOf(email)} /> },
    { id: 'raw', label: 'Raw', content: <RawSource url={apiUrl(`/api/emails/${email.id}/raw`)} /> },
    ...(attachments.length === 0
      ? []
      : [
          {
            id: 'attachments',
            label: `Attachments (${attachments.length})`,
            content: <AttachmentList attachments={attachments} urlOf={urlOf} />,
          },
        ]),
    ...(calendar === null ? [] : [{ id: 'calendar', label: 'Calendar', content: <Code text={calendar.ics} tall /> }]),
  ]
  return (
    <Panel title="What it says" flush>
      {html === null && text === null && (
        <p className="px-4 pt-4 text-sm text-soft">Its text is not kept any more; what is known about it stays.</p>
      )}
      <Tabs label="Forms of the email" tabs={tabs} />
    </Panel>
  )
}

const headersOf = (email: Email) => {
  const list = (name: string, values: readonly string[]) =>
    values.length === 0 ? [] : [{ name, value: values.join(', ') }]
  return [
    { name: 'From', value: email.from },
    ...list('To', email.to),
    ...list('Cc', email.cc),
    ...list('Bcc (in no header)', email.bcc),
    ...list('Reply-To', email.reply_to),
    { name: 'Subject', value: email.subject },
    { name: 'Message-ID', value: email.message_id },
    ...Object.entries(email.headers).map(([name, value]) => ({ name, value })),
  ]
}
