import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, ask } from '../../api/client'
import { StatusBadge } from '../../ui/badge'
import { Panel } from '../../ui/panel'
import { QueryView } from '../../ui/query-view'
import { Time } from '../../ui/time'
import { showNumber } from '../../ui/number'

/** Of one list, or of all. */
export function RecentImports({ listId }: { readonly listId?: string }) {
  const imports = useQuery({
    queryKey: ['imports'],
    queryFn: async () => (await ask(api.GET('/api/imports', { params: { query: { limit: 20 } } }))).data,
    refetchInterval: ({ state }) => (state.data?.some(({ status }) => status === 'running') ? 1_000 : false),
  })
  return (
    <QueryView query={imports}>
      {(data) => {
        const shown = data.filter((one) => listId === undefined || one.list_id === listId)
        if (shown.length === 0) return null
        return (
          <Panel title="Imports" flush>
            <ul className="divide-y">
              {shown.map((one) => (
                <li key={one.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 text-sm">
                  <StatusBadge status={one.status} />
                  <Link to="/imports/$id" params={{ id: one.id }} className="hover:underline">
                    {showNumber(one.rows_read)} {one.rows_read === 1 ? 'row' : 'rows'}
                  </Link>
                  <span className="flex-1 text-soft max-sm:order-last max-sm:basis-full">
                    {showNumber(one.created)} new, {showNumber(one.updated)} merged
                    {one.refused > 0 && (
                      <>
                        , <strong className="text-bad">{showNumber(one.refused)} refused</strong>
                      </>
                    )}
                  </span>
                  <span className="max-sm:ml-auto">
                    <Time at={one.created_at} />
                  </span>
                </li>
              ))}
            </ul>
          </Panel>
        )
      }}
    </QueryView>
  )
}
