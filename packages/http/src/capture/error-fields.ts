/** The first status of an error. */
const FIRST_ERROR = 400

/** The names of the fields that were set since the status of a response is that of an error. The others were set for the response that the error replaces. */
export class ErrorFields {
  readonly #names = new Set<string>()

  note(status: number, name: unknown): void {
    if (status >= FIRST_ERROR && typeof name === 'string') this.#names.add(name.toLowerCase())
  }

  /** The names for a head of this status, with those that come with it; undefined: it is no error. */
  namesFor(status: number, withHead: readonly string[] = []): ReadonlySet<string> | undefined {
    return status < FIRST_ERROR ? undefined : new Set([...this.#names, ...withHead])
  }
}
