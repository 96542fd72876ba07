// What the lab knows, for a program that shows it: each failure with its steps. `npm run lock-lab` checks every one of them on a server.
import { locks } from './locks/all.ts'
import { properties } from './properties.ts'
import { replyText } from './report.ts'

export interface FailureStep {
  /** A caller, or an event that no caller causes. */
  readonly who: string
  readonly command: string
  /** Empty if the reply is a time or there is none. */
  readonly reply: string
}

export interface Failure {
  readonly id: string
  readonly lock: { readonly id: string; readonly name: string }
  readonly property: string
  /** The promise that is broken. */
  readonly claim: string
  /** What follows. */
  readonly why: string
  /** The step that breaks the property, counted from 1. */
  readonly breaksAt: number
  readonly steps: readonly FailureStep[]
}

const claims = new Map(properties.map(({ name, claim }) => [name, claim]))

export const folkloreFailures: readonly Failure[] = locks.flatMap(({ id: lockId, name, failures: known }) =>
  known.map(({ id, property, why, breaksAt, steps }) => ({
    id,
    lock: { id: lockId, name },
    property,
    claim: claims.get(property) ?? '',
    why,
    breaksAt,
    steps: steps.map(([who, command = '', ...reply]) => ({
      who,
      command,
      reply: reply.length === 0 ? '' : replyText(reply[0]),
    })),
  })),
)
