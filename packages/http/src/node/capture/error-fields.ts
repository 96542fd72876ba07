/** The first status of an error. */
const FIRST_ERROR = 400

/**
 * For each field, the response's status when it was set: set under another status, it belongs to a response
 * that the error replaces.
 */
export class ErrorFields {
  readonly #statuses = new Map<string, number>()

  note(status: number, name: unknown): void {
    if (typeof name === 'string') this.#statuses.set(name.toLowerCase(), status)
  }

  /**
   * The names that were set for a head of this status, with those that come with it; undefined: it is
   * no error.
   */
  namesFor(status: number, withHead: readonly string[] = []): ReadonlySet<string> | undefined {
    if (status < FIRST_ERROR) return undefined
    const names = [...this.#statuses].flatMap(([name, noted]) => (noted === status ? [name] : []))
    return new Set([...names, ...withHead])
  }
}
