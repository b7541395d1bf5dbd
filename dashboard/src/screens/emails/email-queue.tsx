import { useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'
import { api, ask as read } from '../../api/client'
import { endOf } from '../../api/read-all'
import type { Entry } from '../../api/types'
import { PagesView } from '../../live/pages-view'
import { useLivePages } from '../../live/use-live-pages'
import { useMayAct } from '../../shell/session'
import { PageHead, Panel } from '../../ui/panel'
import { useZone } from '../../ui/time'
import { DecideDialog } from './decide-dialog'
import type { Target } from './decide-many'
import { type Decision, DECISIONS } from './decisions'
import { type EmailFilter, type FilterChange, useEmailFilter } from './email-filter'
import { FilterBar } from './filter-bar'
import { columnsFor, nameOf } from './queue-columns'
import { QueueEmpty } from './queue-empty'
import { MatchingMenu, SelectionBar } from './selection-bar'
import { StatusTabs } from './status-tabs'
import { useCounts } from './use-counts'

export type EmailRow = Entry<'/api/emails'>

const NONE: ReadonlySet<string> = new Set()

/** All emails, whatever became of them: to find one, to see what waits and what failed, and to act on many. */
export function EmailQueue() {
  const [filter, change] = useEmailFilter()
  const zone = useZone()
  const counts = useCounts(filter)
  return (
    <>
      <PageHead title="Email queue" lead={`Newest first. Times in ${zone}.`} />
      <Panel flush>
        <StatusTabs filter={filter} counts={counts} />
        <Queue filter={filter} change={change} />
      </Panel>
    </>
  )
}

function Queue({ filter, change }: { readonly filter: EmailFilter; readonly change: (change: FilterChange) => void }) {
  const client = useQueryClient()
  const mayAct = useMayAct()
  const live = useLivePages<EmailRow>(['emails', 'queue', filter], async (after) => {
    const query = { ...filter, limit: 100, ...(after !== null && { after }) }
    const page = await read(api.GET('/api/emails', { params: { query } }))
    return { rows: page.data, end: endOf(page) }
  })
  const { pages, shown } = live
  const [chosen, setChosen] = useState(NONE)
  const [asked, setAsked] = useState<{ readonly decision: Decision; readonly target: Target } | null>(null)
  const ask = useCallback(
    (row: EmailRow, decision: Decision) => setAsked({ decision, target: { kind: 'chosen', emails: [row] } }),
    [],
  )
  const columns = useMemo(() => columnsFor(mayAct ? ask : null), [mayAct, ask])
  // What is chosen under one filter is not chosen under another: nobody acts on what they do not see.
  const chosenRows = useMemo(() => shown.rows.filter(({ id }) => chosen.has(id)), [shown.rows, chosen])
  return (
    <>
      <FilterBar filter={filter} change={change}>
        {mayAct && shown.rows.length > 0 && (
          <MatchingMenu
            filter={filter}
            onAsk={(decision) => setAsked({ decision, target: { kind: 'matching', filter } })}
          />
        )}
      </FilterBar>
      <PagesView
        live={live}
        label="Emails"
        newer="Newer emails have come: show them"
        columns={columns}
        nameOf={nameOf}
        height="max(24rem, calc(100vh - 16rem))"
        empty={<QueueEmpty filter={filter} />}
        {...(mayAct && { selection: { chosen, onChange: setChosen } })}
      />
      <SelectionBar
        chosen={chosenRows}
        onClear={() => setChosen(NONE)}
        onAsk={(decision) => setAsked({ decision, target: { kind: 'chosen', emails: chosenRows } })}
      />
      {asked && (
        <DecideDialog
          {...asked}
          onClose={() => setAsked(null)}
          onStart={(ids) => pages.expect(ids, { status: DECISIONS[asked.decision].to })}
          onDone={async () => {
            await client.invalidateQueries({ queryKey: ['emails'] })
            pages.forget()
            setChosen(NONE)
          }}
        />
      )}
    </>
  )
}
