/** What the test asks of the process. */
export type Command = 'is-back' | 'end'

export interface SurvivalReport {
  readonly calls: number
  /** How many loads failed that nobody waited for. */
  readonly background: number
  /** How many events there were, by name. */
  readonly counts: Readonly<Record<string, number>>
  readonly warnings: readonly string[]
  /** How many connections the library made, and how many of them would end the process with their first error. */
  readonly connections: number
  readonly withoutListener: number
}
