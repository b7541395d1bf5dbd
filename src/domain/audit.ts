/** Who acted: somebody at the dashboard, a program with an API key, or a visitor who is not (or not yet) logged in. */
export const ACTOR_KINDS = ['user', 'key', 'visitor'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]
