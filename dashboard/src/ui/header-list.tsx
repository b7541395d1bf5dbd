/** Headers as they are, one by one, whatever somebody wrote into them. */
export function HeaderList({
  headers,
}: {
  readonly headers: readonly { readonly name: string; readonly value: string }[]
}) {
  if (headers.length === 0) return <p className="text-sm text-soft">None.</p>
  return (
    <dl className="grid grid-cols-1 gap-x-4 gap-y-1.5 font-mono text-xs sm:grid-cols-[max-content_minmax(0,1fr)]">
      {headers.map(({ name, value }, i) => (
        <div key={`${name} ${i}`} className="contents">
          <dt className="max-w-60 font-semibold break-words max-sm:mt-1.5">{name}</dt>
          <dd className="min-w-0 break-words whitespace-pre-wrap">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
