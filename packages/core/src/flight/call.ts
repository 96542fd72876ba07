import type { Entry } from '../entry.ts'
import type { Loader } from '../load.ts'
import type { Settings } from '../options/settings.ts'
import type { Verdict } from '../policy/policy.ts'
import type { Read } from '../store/store.ts'
import type { SharedWaiter } from './admission-control.ts'
import type { Engine } from './engine.ts'
import type { PreviousVersion } from './previous-version.ts'

/** One call on its road: what it asks for, and how. */
export interface Call {
  /** What the entry is kept by. */
  readonly key: string
  /** What the caller named. */
  readonly requestedKey: string
  readonly loader: Loader<unknown, never>
  readonly settings: Settings
  /** What will not do, however fresh it is. */
  readonly previousVersion?: PreviousVersion | undefined
  /** The load is part of another one that has a turn; its callers are one waiter. */
  readonly sharedWaiter?: SharedWaiter
  /** Told when the call begins to wait for somebody else's load. */
  readonly onWait?: () => void
}

/** What a look at the store has brought, when, and what it took, ms. */
export interface StoreRead {
  readonly read: Read
  readonly at: number
  readonly took: number
}

/** What an entry is good for to a call; the one that it wants replaced is good for nothing. */
export function verdictOn(
  { freshness }: Engine,
  { previousVersion, settings }: Call,
  entry: Entry,
  now: number,
): Verdict {
  return previousVersion?.isNoNewer(entry) === true ? 'gone' : freshness.judge(entry, now, settings)
}
