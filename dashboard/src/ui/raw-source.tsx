import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { readProblem } from '../api/client'
import { Code } from './code'
import { QueryView } from './query-view'

/** As much as a page shows without becoming slow; the file has all of it. */
const MOST = 256 * 1024

/** The bytes of an email as they go over the wire: to read, and to keep. */
export function RawSource({ url }: { readonly url: string }) {
  const raw = useQuery({
    queryKey: ['raw', url],
    staleTime: 60_000,
    async queryFn() {
      const response = await fetch(url, { credentials: 'same-origin' })
      if (!response.ok) throw await readProblem(response)
      return response.text()
    },
  })
  return (
    <div className="flex flex-col gap-3">
      <DownloadLink url={url}>Download as .eml</DownloadLink>
      <QueryView query={raw}>
        {(text) => (
          <>
            <Code text={text.slice(0, MOST)} tall />
            {text.length > MOST && <p className="text-xs text-soft">The rest is in the file.</p>}
          </>
        )}
      </QueryView>
    </div>
  )
}

export const DownloadLink = ({ url, children }: { readonly url: string; readonly children: React.ReactNode }) => (
  <a
    href={url}
    download
    className="inline-flex min-w-0 items-center gap-1.5 self-start text-sm text-accent underline-offset-2 hover:underline"
  >
    <Download aria-hidden className="size-4 shrink-0" />
    <span className="min-w-0 break-words">{children}</span>
  </a>
)
