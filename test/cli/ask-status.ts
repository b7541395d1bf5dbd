/** Reads the answer to its end: an unread one keeps its connection open for ever. */
export async function askStatus(url: string, init: RequestInit = {}): Promise<number> {
  const answer = await fetch(url, init)
  await answer.arrayBuffer()
  return answer.status
}
