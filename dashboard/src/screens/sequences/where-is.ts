import type { Entry } from '../../api/types'

/** Where in its sequence somebody is, in words. */
export const whereIs = ({ position, finished_at: finishedAt }: Entry<'/api/enrollments'>): string => {
  if (position.node === null) return finishedAt === null ? 'on the last stretch' : 'the end'
  return position.arrived ? `at ${position.node}` : `on the way to ${position.node}`
}
