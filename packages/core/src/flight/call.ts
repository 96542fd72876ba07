import { type Entry, expiredVersion, type Version } from '../entry.ts'
import type { ClaimedAlone } from '../claimed.ts'
import type { Load, Loader } from '../load.ts'
import type { Settings } from '../options/settings.ts'
import type { Verdict } from '../policy/policy.ts'
import type { Read } from '../store/answers.ts'
import type { SharedWaiter } from './admission-control.ts'
import type { Awaiters } from './awaited.ts'
import type { EngineServices } from './engine-services.ts'
import type { Flight } from './flight.ts'
import type { LeaseTerm } from './lease-term.ts'
import type { PermitSource } from './permits.ts'

let calls = 0

/** Numbers a call that begins. */
export function numberCall(): number {
  calls += 1
  return calls
}

/** The number of the call that began last in this process. */
export function lastCall(): number {
  return calls
}

/** One call that may load. */
export interface Call {
  /** The key in the store. */
  readonly storedKey: string
  /** The key that the caller named, for its loader. */
  readonly requestedKey: string
  readonly loader: Loader<unknown, never>
  readonly settings: Settings
  /** Grants the permit of its load. */
  readonly permits: PermitSource
  /** Given for a forced refresh: the call accepts only an entry that is newer. */
  readonly previousVersion?: PreviousVersion | undefined
  /** Given for one key of a batch. */
  readonly batch?: CallBatch | undefined
  /** Given for a claim: its caller gets the lead instead of a load that runs under it. */
  readonly handOut?: HandOut | undefined
}

/** Where the flight of a claim leaves what it got. The lease is its holder's to renew. */
export interface HandOut {
  /** True once the claim is the caller's: its call asks no more. */
  readonly given: boolean
  /** The call began a flight. */
  onFlight(flight: Flight): void
  /** The flight got the lease; the loader of the call runs next. */
  onLead(term: LeaseTerm): void
  /** The flight may load only without a lease. */
  onAlone(why: ClaimedAlone['why']): void
}

/** A call for one key, which accepts any entry. A class: see docs/decisions/0013. */
export class SingleCall implements Call {
  readonly storedKey: string
  readonly requestedKey: string
  readonly loader: Loader<unknown, never>
  readonly settings: Settings
  readonly permits: PermitSource

  constructor(
    storedKey: string,
    requestedKey: string,
    loader: Loader<unknown, never>,
    settings: Settings,
    permits: PermitSource,
  ) {
    this.storedKey = storedKey
    this.requestedKey = requestedKey
    this.loader = loader
    this.settings = settings
    this.permits = permits
  }
}

/** The batch that a call belongs to. */
export interface CallBatch {
  /** The waiting keys of a batch count as one waiter. */
  readonly sharedWaiter: SharedWaiter
  /** Of a batch from inside a load. */
  readonly awaiters: Awaiters | undefined
  /** The store has answered the first read of one of its keys, or the call for the key has ended. */
  onRead(requestedKey: string): void
  /**
   * A load of one of its keys begins. `onLoaderCall` is called when its loader call begins; false: nobody
   * waits for the load, and the call leaves its key out.
   */
  onLoad(load: Load<never>, onLoaderCall: () => boolean): void
  /** The load of one of its keys has ended, also if it ended before its loader call began. */
  onLoadEnd(load: Load<never>): void
}

/** A read of the store that a flight starts from. */
export interface TimedRead {
  readonly read: Read
  readonly judgedAt: number
  /** The moment at which it was sent, if the caller's time limit counts from there. */
  readonly sentAt: number | undefined
}

/**
 * The version that a forced refresh must replace: no entry of that version answers the call, however fresh
 * it is.
 */
export class PreviousVersion {
  #known = false
  #version: Version | undefined

  /**
   * Takes the version from the first read that the store itself answered. A copy served while the store is
   * away may be older or newer.
   */
  note(read: Read): void {
    if (this.#known || read.kind === 'away' || read.away !== undefined) return
    this.#known = true
    this.#version = read.kind === 'found' ? read.entry.version : undefined
  }

  /**
   * True unless the entry is known to be another one. The previous one may have been expired since:
   * `expire()` marks the version and keeps the value.
   */
  mayBePrevious({ version }: Entry): boolean {
    const previous = this.#version
    return !this.#known || (previous !== undefined && (version === previous || version === expiredVersion(previous)))
  }
}

/**
 * Judges a read for a call; a read without an entry is 'gone'. For a forced refresh it first notes the
 * version, which the refresh must replace.
 */
export function noteAndJudge(services: EngineServices, call: Call, read: Read, now: number): Verdict {
  call.previousVersion?.note(read)
  return read.kind === 'found' ? judge(services, call, read.entry, now) : 'gone'
}

/** Judges an entry for a call. For a forced refresh, an entry that may be the one to replace is 'gone'. */
export function judge(
  { freshness }: EngineServices,
  { previousVersion, settings }: Call,
  entry: Entry,
  now: number,
): Verdict {
  return previousVersion?.mayBePrevious(entry) === true ? 'gone' : freshness.judge(entry, now, settings)
}

/**
 * The entry that a load replaces, if it may still be served: the loader gets it as `load.stale`. For a forced
 * refresh it may be fresh.
 */
export function replacedEntry(
  { freshness, runtime }: EngineServices,
  { settings }: Call,
  entry: Entry | undefined,
): Entry | undefined {
  return entry === undefined || freshness.judge(entry, runtime.now(), settings) === 'gone' ? undefined : entry
}
