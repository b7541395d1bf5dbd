export const Spinner = () => (
  <span
    aria-hidden
    className="inline-block size-4 shrink-0 animate-spin rounded-full border-2 border-current border-r-transparent opacity-70"
  />
)

/** Stands where something will be, so that nothing jumps when it comes. */
export const Skeleton = ({ className = 'h-4 w-full' }: { readonly className?: string }) => (
  <span aria-hidden className={`block animate-pulse rounded bg-sunken ${className}`} />
)

export const Loading = ({ what = 'Loading' }: { readonly what?: string }) => (
  <p role="status" className="flex items-center gap-2 p-6 text-sm text-soft">
    <Spinner /> {what}…
  </p>
)
