import type { ReactNode } from 'react'

/** A card: what belongs together. */
export function Panel({
  title,
  actions,
  children,
  flush,
  className = '',
}: {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
  /** For tables and charts that go to the edge. */
  readonly flush?: boolean
  readonly className?: string
}) {
  return (
    <section className={`min-w-0 rounded-xl border bg-panel ${className}`}>
      {(title !== undefined || actions !== undefined) && (
        <header className="flex min-h-12 flex-wrap items-center justify-between gap-2 border-b px-4 py-2">
          <h2 className="text-sm font-semibold">{title}</h2>
          {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
        </header>
      )}
      <div className={flush ? '' : 'p-4'}>{children}</div>
    </section>
  )
}

/** The head of a screen. */
export function PageHead({
  title,
  lead,
  actions,
}: {
  readonly title: ReactNode
  readonly lead?: ReactNode
  readonly actions?: ReactNode
}) {
  return (
    <div className="mb-5 flex flex-wrap items-start justify-between gap-3">
      <div className="min-w-0">
        <h1 className="text-xl font-semibold tracking-tight break-words">{title}</h1>
        {lead !== undefined && <div className="mt-1 text-sm text-soft">{lead}</div>}
      </div>
      {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
    </div>
  )
}

/** Names and values, one below the other on a phone. */
export function Facts({ facts }: { readonly facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="grid grid-cols-1 gap-x-6 gap-y-2 text-sm sm:grid-cols-[max-content_1fr]">
      {facts.map(([name, value]) => (
        <div key={name} className="sm:contents">
          <dt className="text-soft">{name}</dt>
          <dd className="min-w-0 break-words">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

/** One number that matters, and what it is. */
export function Figure({
  label,
  value,
  hint,
  mood,
}: {
  readonly label: string
  readonly value: ReactNode
  readonly hint?: ReactNode
  readonly mood?: 'bad' | 'warn' | 'doubt'
}) {
  const colour = mood === 'bad' ? 'text-bad' : mood === 'warn' ? 'text-warn' : mood === 'doubt' ? 'text-doubt' : ''
  return (
    <div className="h-full min-w-0 rounded-xl border bg-panel px-4 py-3">
      <div className="text-xs text-soft">{label}</div>
      {/* A time does not fit beside another number on a phone unless it may break. */}
      <div className={`mt-0.5 text-2xl font-semibold tabular-nums [&_time]:whitespace-normal ${colour}`}>{value}</div>
      {hint !== undefined && <div className="mt-0.5 text-xs break-words text-soft">{hint}</div>}
    </div>
  )
}
