import { hash } from 'node:crypto'
import type { Cache } from '@cattlegrid/core'
import type { Exchange } from '../road/exchange.ts'
import { invalidateAfterWrite } from '../invalidate-after-write.ts'
import { publishAudit } from './audit-event.ts'
import { differenceText, type Finding, notRunText } from './finding.ts'
import { Warnings } from '../warnings.ts'

/** Loads of a route that are audited in development, each time the process starts. */
const FIRST_LOADS = 3

/** The checked option `audit`. */
export interface AuditRule {
  readonly rate: number
  /** A difference ends the caching of the place, and purges it. */
  readonly stops: boolean
  readonly isDevelopment: boolean
}

/** What is known of one place of the app that caches: a route may be declared at several. */
interface AuditedPlace {
  readonly warnings: Warnings
  firstLoads: number
  running: boolean
}

/** Where a load is audited. */
export type AuditedExchange = Pick<Exchange, 'place' | 'pattern' | 'target'>

/** The audits of one route: which of its loads are audited, and what follows from what they find. */
export class Audit {
  readonly #cache: Cache
  readonly #rule: AuditRule
  readonly #places = new Map<string, AuditedPlace>()
  /** The places whose responses are not cached any more. */
  readonly #stopped = new Set<string>()

  constructor(cache: Cache, rule: AuditRule) {
    this.#cache = cache
    this.#rule = rule
  }

  /**
   * True if this request is to be answered by its own handler, whatever is stored. False while calls wait for
   * a permit or for the load of another, and while the place is audited.
   */
  samples({ place, method }: Pick<Exchange, 'place' | 'method'>): boolean {
    const { rate } = this.#rule
    if (rate === 0 || this.#cache.runtime.random() >= rate) return false
    if (method !== 'GET' || this.#places.get(place)?.running === true) return false
    const { waiting, loading } = this.#cache.stats()
    return waiting <= loading
  }

  /** True if a load is audited that a request leads. `sampled`: the request was chosen. */
  takes({ place }: AuditedExchange, sampled: boolean): boolean {
    const { running, firstLoads } = this.#at(place)
    return !running && (sampled || firstLoads > 0)
  }

  /** An audit of the place begins. */
  begin({ place }: AuditedExchange): void {
    const audited = this.#at(place)
    audited.running = true
    audited.firstLoads -= 1
  }

  /**
   * The audit has ended. Resolves once a place that must stop is purged, or the store is known to be away.
   */
  async end({ place, pattern, target }: AuditedExchange, finding: Finding | undefined): Promise<void> {
    const { warnings } = this.#at(place)
    this.#at(place).running = false
    if (finding === undefined) return
    publishAudit(this.#cache, pattern, finding)
    if (finding.kind === 'not-run') this.#giveNotRun(place, target, finding.why)
    if (finding.kind !== 'different') return
    warnings.giveOnce('CATTLEGRID_AUDIT', differenceText, finding.where, target, this.#rule.stops)
    if (!this.#rule.stops || this.#stopped.has(place)) return
    this.#stopped.add(place)
    await invalidateAfterWrite(this.#cache, `The audit of ${pattern ?? 'a route'}`, () => [tagOf(place)])
  }

  /** True if responses of the place are not cached any more. */
  isStopped(place: string): boolean {
    return this.#stopped.size > 0 && this.#stopped.has(place)
  }

  /**
   * The tag by which a purge finds the responses of the place in all processes; undefined: nothing stops it.
   */
  tagOf(place: string): string | undefined {
    return this.#rule.stops ? tagOf(place) : undefined
  }

  /** The cache cannot audit a route in this mode. */
  noteObserved({ place, target }: AuditedExchange): void {
    this.#giveNotRun(place, target, "its mode is 'observe'")
  }

  #giveNotRun(place: string, target: string, why: string): void {
    if (this.#rule.isDevelopment) this.#at(place).warnings.giveOnce('CATTLEGRID_AUDIT_NOT_RUN', notRunText, why, target)
  }

  #at(place: string): AuditedPlace {
    let audited = this.#places.get(place)
    if (audited === undefined) {
      const firstLoads = this.#rule.isDevelopment ? FIRST_LOADS : 0
      audited = { warnings: new Warnings(), firstLoads, running: false }
      this.#places.set(place, audited)
    }
    return audited
  }
}

function tagOf(place: string): string {
  return `cattlegrid:audit:${hash('sha256', place, 'base64url')}`
}
