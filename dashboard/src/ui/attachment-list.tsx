import { DownloadLink } from './raw-source'

export interface AttachmentEntry {
  readonly filename: string | null
  readonly content_type: string
  readonly content_id: string | null
  readonly size: number
}

/** What came with an email. Browsers are told to keep it, and never to open it here. */
export function AttachmentList({
  attachments,
  urlOf,
}: {
  readonly attachments: readonly AttachmentEntry[]
  readonly urlOf: (place: number) => string
}) {
  if (attachments.length === 0) return <p className="text-sm text-soft">None.</p>
  return (
    <ul className="flex flex-col gap-3">
      {attachments.map(({ filename, content_type: type, content_id: id, size }, place) => (
        <li key={urlOf(place)} className="flex flex-col">
          <DownloadLink url={urlOf(place)}>{filename || `attachment ${place + 1}`}</DownloadLink>
          <span className="text-xs break-words text-soft">
            {type} · {formatSize(size)}
            {id !== null && ` · in the text as cid:${id}`}
          </span>
        </li>
      ))}
    </ul>
  )
}

export const formatSize = (bytes: number): string =>
  bytes < 1_000
    ? `${bytes} bytes`
    : bytes < 1_000_000
      ? `${(bytes / 1_000).toFixed(1)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`
