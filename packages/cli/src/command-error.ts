/** A failure that a command reports without a stack: what happened, and a hint at what to do. */
export class CommandError extends Error {
  /** 1: the server is away or refused. 2: the command line is invalid. */
  readonly exitCode: 1 | 2
  readonly hint: string

  constructor(exitCode: 1 | 2, message: string, hint: string) {
    super(message)
    this.name = 'CommandError'
    this.exitCode = exitCode
    this.hint = hint
  }
}

/** The reason of anything thrown, in one line. */
export function reasonOf(error: unknown): string {
  // For a host with several addresses, Node throws one error per address in an AggregateError with an
  // empty message.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  return error.message === '' ? error.name : error.message
}
