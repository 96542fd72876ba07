/** What a person is told when a command cannot do its work: no stack, and what to do about it. */
export class Complaint extends Error {
  /** 1: the store is away or refused. 2: the command was called in a way it cannot be. */
  readonly exitCode: 1 | 2
  readonly hint: string

  constructor(exitCode: 1 | 2, message: string, hint: string) {
    super(message)
    this.name = 'Complaint'
    this.exitCode = exitCode
    this.hint = hint
  }
}

/** What went wrong, in one line, of whatever was thrown. */
export function reasonOf(error: unknown): string {
  // A host with several addresses: Node tells of each, and of all of them nothing.
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  if (!(error instanceof Error)) return String(error)
  return error.message === '' ? error.name : error.message
}
