/** A failed import keeps what it had brought in: running it again merges. */
export const IMPORT_STATUSES = ['running', 'done', 'failed'] as const
export type ImportStatus = (typeof IMPORT_STATUSES)[number]
