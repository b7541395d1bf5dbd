/** An instant in a sentence; whoever reads it may be anywhere. */
export const sayInstant = (instant: Date): string => `${instant.toISOString().slice(0, 19).replace('T', ' ')} UTC`
