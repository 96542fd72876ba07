import type { Name } from './caller.ts'
import type { Happening } from './move.ts'

/** What was seen to happen. */
export interface Step {
  readonly who: Name | Happening
  /** The command that was sent, or what was done without one. */
  readonly text?: string | undefined
  /** The reply as it came. */
  readonly reply?: unknown
  /** What the caller makes of it. */
  readonly note?: string | undefined
}
