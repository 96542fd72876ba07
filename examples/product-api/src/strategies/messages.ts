import type { Explanation } from '@cattlegrid/explain'

/** What the demo asks of a strategy's process. */
export type Request =
  | { readonly id: number; readonly ask: 'expire' | 'invalidate' | 'soft-purge' | 'explain' }
  | { readonly id: number; readonly ask: 'fill'; readonly count: number }
  // The first request: the process starts while the database does.
  | { readonly id: number; readonly ask: 'use-database'; readonly url: string }

/** The reply to the request with this id. */
export interface Reply {
  readonly id: number
  readonly error?: string | undefined
  /** Milliseconds, of a `soft-purge`. */
  readonly took?: number | undefined
  /** Of an `explain`: undefined where the strategy keeps no history. */
  readonly explanation?: Explanation | undefined
}

/** The loads of a process at one moment. */
export interface Loads {
  /** By the clock of the machine, ms. */
  readonly at: number
  readonly running: number
  /** Those of them that have read the revision, and not yet the ranking. */
  readonly reading: number
  /** When the load of its newest ranking began, by the same clock. */
  readonly newest: number
}

/** How the requests since the last report were answered, and what happens now. */
export interface Report {
  readonly fresh: number
  readonly stale: number
  readonly loaded: number
  readonly failed: number
  readonly waiting: number
  readonly leads: boolean
}

export type Message =
  | { readonly kind: 'load'; readonly loads: Loads }
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'reply'; readonly reply: Reply }
  // The first message of each child process: see child.ts.
  | { readonly kind: 'ready'; readonly url: string }
