import { ImageOff, Monitor, Smartphone } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Button, IconButton } from './button'
import { prepareHtml } from './email-html'

const NONE: ReadonlyMap<string, string> = new Map()

/**
 * The html of an email, whoever wrote it: in a frame that can run nothing, open nothing and be told nothing, and that loads
 * pictures only when somebody asks for them, because their servers learn of it.
 */
export function EmailFrame({
  html,
  title,
  inline = NONE,
  widths,
  height = 'min(65vh, 48rem)',
}: {
  readonly html: string
  /** What it is, for those who do not see it. */
  readonly title: string
  /** Pictures that came with it: their content ids, and their `data:` addresses. */
  readonly inline?: ReadonlyMap<string, string>
  /** Offers to look at it as wide as a phone. */
  readonly widths?: boolean
  readonly height?: string
}) {
  const [wanted, setWanted] = useState<string | null>(null)
  const [phone, setPhone] = useState(false)
  // Asked for this email, and not for the next one that is shown in the same place.
  const pictures = wanted === html
  const shown = useMemo(() => prepareHtml(html, { pictures, inline }), [html, pictures, inline])
  const hosts = shown.pictureHosts
  return (
    <div className="flex flex-col gap-2">
      {(widths || (hosts.length > 0 && !pictures)) && (
        <div className="flex flex-wrap items-center justify-between gap-2 text-xs text-soft">
          {hosts.length > 0 && !pictures ? (
            <div className="flex min-w-0 items-center gap-2">
              <ImageOff aria-hidden className="size-4 shrink-0" />
              <span className="min-w-0 break-words">
                Pictures from {describeHosts(hosts)} are not loaded: that would tell {hosts.length > 1 ? 'them' : 'it'}{' '}
                that somebody looked.
              </span>
              <Button small onClick={() => setWanted(html)}>
                Load pictures
              </Button>
            </div>
          ) : (
            <span />
          )}
          {widths && (
            <div role="group" aria-label="Width" className="flex gap-1 max-sm:hidden">
              <IconButton
                label="As wide as it gets"
                icon={<Monitor />}
                aria-pressed={!phone}
                onClick={() => setPhone(false)}
                className={phone ? '' : 'bg-sunken text-ink'}
              />
              <IconButton
                label="As wide as a phone"
                icon={<Smartphone />}
                aria-pressed={phone}
                onClick={() => setPhone(true)}
                className={phone ? 'bg-sunken text-ink' : ''}
              />
            </div>
          )}
        </div>
      )}
      <iframe
        // A frame keeps what it was first allowed: with another policy it is another frame.
        key={pictures ? 'with pictures' : 'without'}
        title={title}
        sandbox=""
        referrerPolicy="no-referrer"
        srcDoc={shown.document}
        style={{ height, colorScheme: 'light' }}
        className={`mx-auto w-full rounded-lg border bg-white ${phone ? 'max-w-[375px]' : ''}`}
      />
    </div>
  )
}

const describeHosts = (hosts: readonly string[]) =>
  hosts.length <= 2 ? hosts.join(' and ') : `${hosts.slice(0, 2).join(', ')} and ${hosts.length - 2} more`
