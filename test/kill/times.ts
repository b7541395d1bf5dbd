/** The same for each of them, to compare with. */
export const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)
