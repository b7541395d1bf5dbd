import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { Live, type LiveState } from './live'

let live: Live | undefined
const liveOf = (client: QueryClient): Live => (live ??= new Live(client))

/** Keeps the stream open as long as somebody is logged in. */
export function useLive(): void {
  const client = useQueryClient()
  useEffect(() => liveOf(client).start(), [client])
}

export function useLiveState(): LiveState {
  const one = liveOf(useQueryClient())
  return useSyncExternalStore(one.subscribe, () => one.state)
}
