interface Page<Row> {
  readonly has_more: boolean
  readonly searched_until?: string | null
  readonly data: readonly Row[]
}

/** A page may be short, or empty, because only so much is searched at a time: it says where to go on from. */
export const endOf = ({ has_more: more, searched_until: until, data }: Page<{ readonly id: string }>): string | null =>
  more ? (until ?? data.at(-1)?.id ?? null) : null

/** What is shown or chosen from as a whole: all of it, page by page, up to `most`. */
export async function readAll<Row extends { readonly id: string }>(
  read: (page: { limit: number; after?: string }) => Promise<Page<Row>>,
  most = Number.POSITIVE_INFINITY,
): Promise<Row[]> {
  const rows: Row[] = []
  let after: string | null = null
  do {
    const page: Page<Row> = await read({ limit: Math.min(100, most - rows.length), ...(after !== null && { after }) })
    rows.push(...page.data)
    after = endOf(page)
  } while (after !== null && rows.length < most)
  return rows
}
