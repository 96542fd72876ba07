/**
 * What a background refresh asks the budget for. `perSecond` and `atOnce` are whole numbers above 0;
 * undefined: no such limit.
 */
export interface RefreshRequest {
  /** Identifies the refresh among those that run. */
  readonly token: string
  /** The most refreshes that begin in any second. */
  readonly perSecond: number | undefined
  /** The most refreshes that run at once. */
  readonly atOnce: number | undefined
  /** The refresh counts as ended after this time, ms: the process that runs it may have died. */
  readonly holdFor: number
}

/** The pause before a process asks again whether a running refresh has ended, ms. */
const POLL = 50

/**
 * Counts the background refreshes of one store, or of one process. The rate is that of GCRA (the generic cell
 * rate algorithm, ITU-T I.371): one permit an interval, and a twentieth of a second's permits may come early.
 * The interval is so long that no second has more than `perSecond`, also where some loads begin later after
 * their permit than others.
 */
export class RefreshQuota {
  /** The end of each running refresh, by its token. */
  readonly #running = new Map<string, number>()
  /** The moment at which the next permit would be due if none came early. */
  #due = -Infinity

  /** Grants a permit, and returns 0; else returns the time after which to ask again, ms. */
  grant({ token, perSecond, atOnce, holdFor }: RefreshRequest, now: number): number {
    const { interval, ahead } = paceOf(perSecond)
    const due = Math.max(this.#due, now)
    const wait = due - ahead - now
    if (wait > 0) return wait
    if (atOnce !== undefined) {
      this.#removeEnded(now)
      if (this.#running.size >= atOnce) return POLL
      this.#running.set(token, now + holdFor)
    }
    this.#due = due + interval
    return 0
  }

  /** Ends the permit. `unused`: gives its share of the rate back, because nothing was loaded. */
  end({ token, perSecond }: RefreshRequest, unused: boolean): void {
    this.#running.delete(token)
    if (unused) this.#due -= paceOf(perSecond).interval
  }

  #removeEnded(now: number): void {
    for (const [token, end] of this.#running) if (end <= now) this.#running.delete(token)
  }
}

/** The time between two permits, and the time by which a permit may come early, ms. */
function paceOf(perSecond: number | undefined): { readonly interval: number; readonly ahead: number } {
  if (perSecond === undefined) return { interval: 0, ahead: 0 }
  const interval = 1000 / (0.9 * perSecond)
  return { interval, ahead: Math.floor(perSecond / 20) * interval }
}
