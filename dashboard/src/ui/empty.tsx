import type { ReactNode } from 'react'
import { Code } from './code'

/** Nothing here yet: why, and the command or call that would change that. */
export function Empty({
  title,
  children,
  command,
  actions,
}: {
  readonly title: string
  readonly children?: ReactNode
  readonly command?: string
  readonly actions?: ReactNode
}) {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-12 text-center">
      <p className="text-base font-medium">{title}</p>
      {children !== undefined && <div className="max-w-prose text-sm text-soft">{children}</div>}
      {command !== undefined && (
        <div className="w-full max-w-2xl text-left">
          <Code text={command} />
        </div>
      )}
      {actions}
    </div>
  )
}
