/** A mistake only the command line can meet, with the exit code it ends in. Everything else is a PostriderError. */
export class CommandError extends Error {
  override readonly name = 'CommandError'

  readonly exitCode: number

  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}

export const USAGE = 2
export const NOT_FOUND = 3
export const UNAVAILABLE = 5
