/** What is begun without being waited for, so that whoever closes the database can wait for it. */
export interface Afterwards {
  add(work: Promise<void>): void
  over(): Promise<void>
}

export function createAfterwards(onError: (error: unknown) => void): Afterwards {
  const underWay = new Set<Promise<void>>()
  return {
    add(work) {
      const watched = work.catch(onError).finally(() => underWay.delete(watched))
      underWay.add(watched)
    },
    async over() {
      while (underWay.size > 0) await Promise.all(underWay)
    },
  }
}
