import { TriangleAlert } from 'lucide-react'
import { problemOf } from '../api/problem'
import { Button } from './button'

/** An error as the API said it: what is wrong, what to do, and what to quote when asking for help. */
export function ProblemNote({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) {
  const { title, detail, code, request_id: requestId, errors } = problemOf(error)
  return (
    <div role="alert" className="flex gap-3 rounded-lg border border-bad/30 bg-bad-soft p-3 text-sm text-ink">
      <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      <div className="min-w-0 flex-1">
        <p className="font-medium">{title}</p>
        {detail !== title && <p className="break-words">{detail}</p>}
        {errors && errors.length > 0 && (
          <ul className="mt-1 list-disc pl-5">
            {errors.map(({ pointer, detail: what }) => (
              <li key={`${pointer} ${what}`}>
                {pointer && <code className="font-mono text-xs">{pointer}</code>} {what}
              </li>
            ))}
          </ul>
        )}
        <p className="mt-1 font-mono text-xs text-soft">
          {code}
          {requestId !== undefined && ` · ${requestId}`}
        </p>
      </div>
      {retry && (
        <Button small onClick={retry}>
          Try again
        </Button>
      )}
    </div>
  )
}
