/**
 * What a process of this benchmark does. Each part of a measurement has a process of its own: whoever sends does not
 * share a core's time with whoever receives, and its memory is nobody else's.
 */
export interface Stage<Ready> {
  /** Says that it can be used, and how. */
  ready(value: Ready): void
  /** Resolves when it is asked to come to an end. */
  readonly stopped: Promise<void>
  /** What is measured begins; call the returned function when it is over. In between is what a CPU profile shows. */
  watch(): Promise<() => Promise<void>>
}

export type Role<Task, Ready, Result> = (task: Task, stage: Stage<Ready>) => Promise<Result>

export type Told<Ready = unknown, Result = unknown> =
  | { readonly kind: 'ready'; readonly value: Ready }
  | { readonly kind: 'result'; readonly value: Result }
  | { readonly kind: 'failure'; readonly failure: string }

export type Asked =
  | { readonly kind: 'begin'; readonly name: string; readonly task: unknown; readonly profileFile: string | null }
  | { readonly kind: 'stop' }
