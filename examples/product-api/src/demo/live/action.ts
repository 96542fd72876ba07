import type { SideFigures } from './aftermath.ts'

/** What is told of a press. */
export interface Told {
  /** One sentence, for the log of the page. */
  readonly message: string
  /** What each side has counted since. */
  readonly figures?: (() => readonly SideFigures[]) | undefined
  /** The sentence that takes the place of the message, once everything is counted. */
  readonly outcome?: Promise<string> | undefined
}

/** What the press of a button did, and how it is undone. */
export interface Effect extends Told {
  /** Undefined if there is nothing to undo. */
  readonly restore?: (() => Promise<Told>) | undefined
  /** When it is undone if nobody presses the button again. */
  readonly restoreAfterMs?: number | undefined
}

export interface Action {
  readonly id: string
  readonly label: string
  /** What the label says while it is active. */
  readonly restoreLabel?: string | undefined
  readonly explanation: string
  /** Why it cannot be pressed in this run. */
  readonly unavailable?: string | undefined
  readonly run: () => Promise<Effect>
}

export type ActionState = 'ready' | 'running' | 'active' | 'unavailable'
