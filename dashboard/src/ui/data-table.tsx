import { useVirtualizer } from '@tanstack/react-virtual'
import { type CSSProperties, memo, type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react'
import { Loading, Spinner } from './spinner'

export interface Column<Row> {
  readonly id: string
  readonly head: ReactNode
  readonly cell: (row: Row) => ReactNode
  /** A grid track: `minmax(0,2fr)`, `8rem`. */
  readonly width: string
  /** Left out where there is no room for it. */
  readonly from?: 'sm' | 'md' | 'lg'
  readonly align?: 'right'
}

export interface Selection {
  readonly chosen: ReadonlySet<string>
  readonly onChange: (chosen: ReadonlySet<string>) => void
}

const HIDDEN = { sm: 'max-sm:hidden', md: 'max-md:hidden', lg: 'max-lg:hidden' } as const
const ROW_HEIGHT = 44

/**
 * A table of any length: only the rows in sight exist. Its columns are tracks of one grid, which a narrow window has fewer
 * of; what is left out there is in the row's own page.
 */
export function DataTable<Row>({
  label,
  rows,
  columns,
  keyOf,
  selection,
  more,
  empty,
  height = '70vh',
  nameOf,
  onRange,
}: {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  readonly selection?: Selection
  /** Called when the end comes into sight. */
  readonly more?: { readonly hasMore: boolean; readonly loading: boolean; readonly load: () => void }
  readonly empty: ReactNode
  readonly height?: string
  /** What a row is called, for those who choose it without seeing it. */
  readonly nameOf?: (row: Row) => string
  /** Told which rows are in sight, from the first to the last. */
  readonly onRange?: (first: number, last: number) => void
}) {
  const box = useRef<HTMLDivElement>(null)
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? -1
  const hasMore = more?.hasMore === true
  const isLoading = more?.loading === true
  const load = more?.load
  useEffect(() => {
    if (hasMore && !isLoading && last >= rows.length - 20) load?.()
  }, [hasMore, isLoading, last, rows.length, load])

  const seen = virtual.range
  useEffect(() => {
    if (seen) onRange?.(seen.startIndex, seen.endIndex)
  }, [seen?.startIndex, seen?.endIndex, onRange])

  // Made once for rows that may be a hundred thousand, not with every step of a scroll.
  const keys = useMemo(() => rows.map(keyOf), [rows, keyOf])
  const chosen = selection?.chosen
  const all = useMemo(() => chosen !== undefined && keys.every((key) => chosen.has(key)), [chosen, keys])
  const isSelectable = selection !== undefined
  const tracks = useMemo(() => tracksOf(columns, isSelectable), [columns, isSelectable])
  const state = useRef({ keys, selection, last: -1 })
  state.current = { ...state.current, keys, selection }
  const toggle = useCallback((index: number, range: boolean) => {
    const { keys: known, selection: now, last: before } = state.current
    const changed = new Set(now!.chosen)
    const isChosen = !changed.has(known[index]!)
    // With Shift, all from the one that was chosen before.
    const [from, to] = range && before >= 0 ? [Math.min(before, index), Math.max(before, index)] : [index, index]
    for (const key of known.slice(from, to + 1))
      if (isChosen) changed.add(key)
      else changed.delete(key)
    state.current.last = index
    now!.onChange(changed)
  }, [])

  if (rows.length === 0) return hasMore ? <Loading /> : empty
  return (
    <div
      ref={box}
      className="overflow-auto rounded-xl"
      style={{ maxHeight: height }}
      tabIndex={0}
      role="region"
      aria-label={label}
    >
      <div
        role="table"
        aria-label={label}
        aria-rowcount={hasMore ? -1 : rows.length + 1}
        className="text-sm"
        style={tracks}
      >
        <div role="rowgroup" className="sticky top-0 z-10">
          <div role="row" className="data-row h-9 border-b bg-panel text-xs font-medium text-soft">
            {selection && (
              <div role="columnheader" className="flex items-center justify-center">
                <input
                  type="checkbox"
                  aria-label="Select all that are loaded"
                  checked={all}
                  onChange={() => selection.onChange(all ? new Set() : new Set(keys))}
                  className="size-4 accent-(--accent)"
                />
              </div>
            )}
            {columns.map((column) => (
              <div key={column.id} role="columnheader" className={cellClass(column)}>
                {column.head}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
          {items.map(({ index, start }) => (
            <TableRow
              key={keys[index]}
              row={rows[index]!}
              index={index}
              start={start}
              columns={columns}
              isChosen={chosen?.has(keys[index]!)}
              {...(selection && { toggle })}
              {...(nameOf && { nameOf })}
            />
          ))}
        </div>
      </div>
      {isLoading && (
        <p role="status" className="flex items-center justify-center gap-2 p-3 text-xs text-soft">
          <Spinner /> Loading more…
        </p>
      )}
    </div>
  )
}

const cellClass = <Row,>({ from, align }: Column<Row>) =>
  `min-w-0 truncate px-3 ${from ? HIDDEN[from] : ''} ${align === 'right' ? 'text-right tabular-nums' : ''}`

interface TableRowProps<Row> {
  readonly row: Row
  readonly index: number
  readonly start: number
  readonly columns: readonly Column<Row>[]
  readonly isChosen: boolean | undefined
  readonly toggle?: (index: number, range: boolean) => void
  readonly nameOf?: (row: Row) => string
}

/** Rendered again only when something of it changed: while people scroll, that is hardly ever. */
const TableRow = memo(function TableRow<Row>({
  row,
  index,
  start,
  columns,
  isChosen,
  toggle,
  nameOf,
}: TableRowProps<Row>) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isChosen}
      className="data-row absolute inset-x-0 top-0 border-b hover:bg-sunken aria-selected:bg-accent-soft"
      style={{ height: ROW_HEIGHT, transform: `translateY(${start}px)` }}
    >
      {toggle && (
        <div role="cell" className="flex items-center justify-center">
          <input
            type="checkbox"
            aria-label={nameOf ? `Select ${nameOf(row)}` : `Select row ${index + 1}`}
            checked={isChosen === true}
            onChange={(event) => toggle(index, (event.nativeEvent as MouseEvent).shiftKey)}
            className="size-4 accent-(--accent)"
          />
        </div>
      )}
      {columns.map((column) => (
        <div key={column.id} role="cell" className={cellClass(column)}>
          {column.cell(row)}
        </div>
      ))}
    </div>
  )
}) as <Row>(props: TableRowProps<Row>) => ReactNode

/** The tracks at each width, as the hidden columns need them; app.css uses them. */
function tracksOf<Row>(columns: readonly Column<Row>[], isSelectable: boolean): CSSProperties {
  const tracks = (shown: readonly (Column<Row>['from'] | undefined)[]) =>
    [
      ...(isSelectable ? ['2.5rem'] : []),
      ...columns.filter(({ from }) => shown.includes(from)).map(({ width }) => width),
    ].join(' ')
  return {
    '--tracks': tracks([undefined]),
    '--tracks-sm': tracks([undefined, 'sm']),
    '--tracks-md': tracks([undefined, 'sm', 'md']),
    '--tracks-lg': tracks([undefined, 'sm', 'md', 'lg']),
  } as CSSProperties
}
