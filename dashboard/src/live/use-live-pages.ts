import { type QueryKey, useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { LivePages, type ReadPage } from './live-pages'

/** A long list that is read again, where it is in sight, whenever its topic (the first word of the key) changes. */
export function useLivePages<Row extends { readonly id: string }>(
  key: QueryKey,
  read: (after: string | null) => Promise<ReadPage<Row>>,
) {
  const name = JSON.stringify(key)
  // Another key is another list, with another way to read it.
  const pages = useMemo(() => new LivePages(read), [name])
  const now = useSyncExternalStore(pages.subscribe, pages.shown)
  const pulse = useQuery({ queryKey: key, queryFn: () => pages.refresh().then(() => null), gcTime: 0, staleTime: 0 })
  const { isReady, rows, hasMore, isLoading, error } = now
  // Only so much may be searched at a time: as long as nothing was found, the search goes on by itself.
  useEffect(() => {
    if (isReady && rows.length === 0 && hasMore && !isLoading && error === null) pages.loadMore()
  }, [pages, isReady, rows.length, hasMore, isLoading, error])
  // Until another list is there, the one before stays: a page that is empty for a blink is harder to read.
  const last = useRef({ shown: now, name })
  if (isReady) last.current = { shown: now, name }
  const isOld = !isReady && last.current.shown.isReady
  return { pages, shown: isOld ? last.current.shown : now, name: isOld ? last.current.name : name, isOld, pulse }
}
