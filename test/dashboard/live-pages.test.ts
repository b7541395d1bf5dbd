import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LivePages } from '../../dashboard/src/live/live-pages.js'

interface Row {
  readonly id: string
  readonly word: string
}

/** A list on a server: it grows at the top, rows change, and some do not belong to it any more. */
class Source {
  rows: Row[] = []
  asked = 0
  #last = 0

  add(count: number): void {
    for (let i = 0; i < count; i++) this.rows.unshift({ id: String(++this.#last).padStart(6, '0'), word: 'new' })
  }
  readonly read = async (after: string | null) => {
    this.asked++
    const behind = this.rows.filter(({ id }) => after === null || id < after)
    const rows = behind.slice(0, 10)
    return { rows, end: behind.length > 10 ? rows.at(-1)!.id : null }
  }
}

const open = async (count: number, loaded: number) => {
  const source = new Source()
  source.add(count)
  const pages = new LivePages(source.read)
  await pages.refresh()
  for (let i = 1; i < loaded; i++) {
    pages.loadMore()
    await settled(pages)
  }
  return { source, pages, ids: () => pages.shown().rows.map(({ id }) => id) }
}

const settled = (pages: LivePages<Row>) =>
  new Promise<void>((resolve) => {
    const look = () => {
      if (pages.shown().isLoading) return
      leave()
      resolve()
    }
    const leave = pages.subscribe(look)
    look()
  })

describe('a long list that is looked at', () => {
  it('shows what is new at once to those at its top', async () => {
    const { source, pages, ids } = await open(30, 2)
    pages.see(0, 9)
    source.add(3)
    await pages.refresh()
    expect(ids().slice(0, 4)).toEqual(['000033', '000032', '000031', '000030'])
    expect(pages.shown().hasNewer).toBe(false)
  })

  it('leaves those who have scrolled down where they are, and reads only what they see', async () => {
    const { source, pages, ids } = await open(100, 8)
    const before = ids()
    pages.see(42, 55)
    source.add(25)
    source.asked = 0
    await pages.refresh()
    expect(ids()).toEqual(before)
    expect(pages.shown().hasNewer).toBe(true)
    // The top, to know of what is new, and the two pages in sight.
    expect(source.asked).toBe(3)
    await pages.restart()
    expect(ids()[0]).toBe('000125')
    expect(pages.shown().hasNewer).toBe(false)
  })

  it('shows what a decision should lead to until it is known', async () => {
    const { pages } = await open(5, 1)
    pages.expect(['000003'], { word: 'expected' })
    expect(pages.shown().rows.map(({ word }) => word)).toEqual(['new', 'new', 'expected', 'new', 'new'])
    pages.forget()
    expect(pages.shown().rows.every(({ word }) => word === 'new')).toBe(true)
  })

  it('says why the next ones could not be read, and goes on when it is asked again', async () => {
    const { source, pages, ids } = await open(25, 1)
    const works = source.read
    let fails = true
    const broken = new LivePages<Row>((after) =>
      after !== null && fails ? Promise.reject(new Error('away')) : works(after),
    )
    await broken.refresh()
    broken.loadMore()
    await settled(broken)
    expect(broken.shown().error).toEqual(new Error('away'))
    fails = false
    broken.loadMore()
    await settled(broken)
    expect(broken.shown()).toMatchObject({ error: null, hasMore: true })
    expect(broken.shown().rows).toHaveLength(20)
    expect(ids()).toHaveLength(10)
    expect(pages.shown().hasMore).toBe(true)
  })

  it('never shows a row twice, nor one out of order, nor misses one where somebody looks', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), count: fc.integer({ min: 1, max: 30 }) }),
      fc.record({ do: fc.constant('remove' as const), place: fc.nat(200) }),
      fc.record({ do: fc.constant('change' as const), place: fc.nat(200) }),
      fc.record({ do: fc.constant('scroll' as const), place: fc.nat(120) }),
      fc.record({ do: fc.constant('more' as const) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { source, pages } = await open(60, 3)
        let seen = [0, 9]
        for (const one of steps) {
          const { rows } = source
          if (one.do === 'add') source.add(one.count)
          else if (one.do === 'remove') rows.splice(one.place % rows.length, 1)
          else if (one.do === 'change')
            rows[one.place % rows.length] = { ...rows[one.place % rows.length]!, word: 'changed' }
          else if (one.do === 'more') {
            pages.loadMore()
            await settled(pages)
          } else {
            const from = Math.min(one.place, Math.max(0, pages.shown().rows.length - 10))
            seen = [from, from + 9]
            pages.see(from, from + 9)
          }
          await pages.refresh()
          const shown = pages.shown().rows
          expect(shown.map(({ id }) => id)).toEqual([...new Set(shown.map(({ id }) => id))].toSorted().toReversed())
          // In sight, it is what the server has between the first and the last of what is shown there.
          const sight = shown.slice(seen[0], seen[1]! + 1)
          if (sight.length < 2) continue
          const [first, last] = [sight[0]!.id, sight.at(-1)!.id]
          expect(sight).toEqual(source.rows.filter(({ id }) => id <= first && id >= last))
        }
      }),
      {
        numRuns: 500,
        examples: [
          // New ones above the first page took the place of its last rows, which were then never read again.
          [
            [
              { do: 'scroll', place: 1 },
              { do: 'add', count: 2 },
              { do: 'remove', place: 72 },
            ],
          ],
          // Where one had gone, another came into sight that had gone as well while nobody looked at it.
          [
            [
              { do: 'scroll', place: 10 },
              { do: 'remove', place: 20 },
              { do: 'remove', place: 187 },
            ],
          ],
        ],
      },
    )
  })
})
