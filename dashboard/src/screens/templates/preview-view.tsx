import { useState } from 'react'
import { EmailFrame } from '../../ui/email-frame'
import { ProblemNote } from '../../ui/problem-note'
import { Loading } from '../../ui/spinner'
import { Tabs } from '../../ui/tabs'
import type { PreviewState } from './use-preview'

/** An email as it would arrive. */
export function PreviewView({
  state: { preview, late, error, marks },
  missing,
}: {
  readonly state: PreviewState
  /** Beside the variables that have no value. */
  readonly missing?: React.ReactNode
}) {
  const [tab, setTab] = useState('html')
  if (error !== null && error !== undefined) return <ProblemNote error={error} />
  const wrong = Object.values(marks)
    .flat()
    .filter(({ mood }) => mood === 'bad').length
  if (wrong > 0)
    return (
      <p role="status" className="rounded-lg bg-bad-soft p-3 text-sm text-bad">
        {wrong === 1 ? 'One thing' : `${wrong} things`} must be mended before it can be shown: see where it is marked.
      </p>
    )
  if (!preview) return late ? <Loading what="Rendering" /> : null
  return (
    <div className={`flex flex-col gap-3 transition-opacity ${late ? 'opacity-60' : ''}`} aria-busy={late}>
      {preview.missing.length > 0 && (
        <div role="status" className="rounded-lg bg-warn-soft p-3 text-sm text-ink">
          <p>
            No value for <strong className="font-semibold break-words">{preview.missing.join(', ')}</strong>. A campaign
            does not start while somebody on its list lacks one;{' '}
            <code className="font-mono text-xs">| default: "…"</code> helps.
          </p>
          {missing}
        </div>
      )}
      <p className="text-sm">
        <span className="text-soft">Subject </span>
        <strong data-testid="preview-subject" className="font-semibold break-words">
          {preview.subject || '(empty)'}
        </strong>
      </p>
      <div className="rounded-lg border">
        <Tabs
          label="How it arrives"
          value={preview.html === null ? 'text' : tab}
          onChange={setTab}
          tabs={[
            ...(preview.html === null
              ? []
              : [
                  {
                    id: 'html',
                    label: 'HTML',
                    content: (
                      <EmailFrame
                        html={preview.html}
                        title="The email as it arrives"
                        widths
                        height="min(55vh, 36rem)"
                      />
                    ),
                  },
                ]),
            {
              id: 'text',
              label: 'Text',
              content: (
                <pre
                  tabIndex={0}
                  className="max-h-[60vh] overflow-auto font-mono text-xs break-words whitespace-pre-wrap"
                >
                  {preview.text}
                </pre>
              ),
            },
          ]}
        />
      </div>
    </div>
  )
}
