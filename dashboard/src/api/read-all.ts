/** What is shown or chosen from as a whole: all of it, page by page, up to `most`. */
export async function readAll<Row extends { readonly id: string }>(
  read: (page: { limit: number; after?: string }) => Promise<{ has_more: boolean; data: Row[] }>,
  most = Number.POSITIVE_INFINITY,
): Promise<Row[]> {
  const rows: Row[] = []
  for (;;) {
    const after = rows.at(-1)?.id
    const { data, has_more: hasMore } = await read({ limit: 100, ...(after !== undefined && { after }) })
    rows.push(...data)
    if (!hasMore || rows.length >= most) return rows
  }
}
