/**
 * How much of something a test does: the least that still proves the same, which is what `npm test` runs, or with
 * `TEST_SIZE=full` as much as is worth an hour, which is what `npm run soak -- --tests` runs.
 */
export const sized = <T>(least: T, full: T): T => (process.env['TEST_SIZE'] === 'full' ? full : least)
