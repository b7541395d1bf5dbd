import type { Stage } from './role.js'

/** Loaded when it is its turn, so that no process carries another one's code. */
export const ROLES = {
  sink: async () => (await import('./sink-role.js')).runSink,
  deliver: async () => (await import('./deliver-role.js')).deliver,
  serve: async () => (await import('./serve-role.js')).runServer,
  post: async () => (await import('./post-role.js')).post,
  work: async () => (await import('./work-role.js')).work,
  sendSteadily: async () => (await import('./send-steadily-role.js')).sendSteadily,
  feed: async () => (await import('./feed-role.js')).feed,
  plan: async () => (await import('../campaign/plan-role.js')).plan,
  planNaively: async () => (await import('../campaign/naive-role.js')).planNaively,
  sendCampaign: async () => (await import('../campaign/send-role.js')).sendCampaign,
  runFair: async () => (await import('../campaign/fair-role.js')).runFair,
}

export type RoleName = keyof typeof ROLES
type RoleOf<Name extends RoleName> = Awaited<ReturnType<(typeof ROLES)[Name]>>

export type TaskOf<Name extends RoleName> = Parameters<RoleOf<Name>>[0]
export type ReadyOf<Name extends RoleName> =
  Parameters<RoleOf<Name>> extends [unknown, Stage<infer Ready>] ? Ready : never
export type ResultOf<Name extends RoleName> = Awaited<ReturnType<RoleOf<Name>>>
