/** Whether something is done before so many milliseconds are over. It goes on in any case; a failure in time is thrown. */
export async function inTime(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<false>((resolve) => (timer = setTimeout(() => resolve(false), ms)))
  // One that comes later than anybody waits for it has nobody to tell.
  work.catch(() => undefined)
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    clearTimeout(timer)
  }
}
