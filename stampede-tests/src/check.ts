import type { Feature } from './driver.js'
import type { Stage, StageOptions } from './stage.js'
import type { Verdict } from './verdict.js'

export interface Check {
  readonly id: string
  /** What must be true, as a sentence. */
  readonly title: string
  /** What a user loses where it is not. */
  readonly loses: string
  readonly needs: readonly Feature[]
  /** Number of processes; default: 1. */
  readonly processes?: number
  readonly stage?: StageOptions
  play(stage: Stage, verdict: Verdict): Promise<void>
}

export interface Group {
  readonly id: string
  readonly title: string
  readonly checks: readonly Check[]
}
