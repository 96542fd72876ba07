/** The clocks of a host, and its event loop. */
export interface ClockSources {
  /**
   * ms with fractions, from an arbitrary zero; never steps back, and may stand still while the host sleeps.
   */
  readonly monotonic: () => number
  /** ms since 1970; may step in both directions. */
  readonly timeOfDay: () => number
  /** ms since the host has started, those included in which it slept; never steps. Expensive to read. */
  readonly sinceStart: () => number
  /** Calls `action` when the present callback of the event loop has ended. */
  readonly afterTick: (action: () => void) => void
}

export interface Clock {
  now(): number
  coarseNow(): number
  elapsed(): number
}

/** The number of coarse readings that share one reading of the clock within a tick. */
const COARSE_READINGS = 16
/**
 * The time of day is slewed by less than this share of the time that passes; a smaller lead over the
 * monotonic clock is no sleep.
 */
const SLEWED = 1 / 1000
/** Nor is one of less than this, ms. */
const SHORTEST_SLEEP = 1000

/**
 * Two clocks of one host. `elapsed` is the monotonic one alone. `now` also counts the time in which the host
 * slept: when the time of day is far ahead of what the monotonic clock saw pass, the time since the host's
 * start tells whether it slept or somebody set the time of day, which changes nothing.
 *
 * The time of day is read at the first reading in each tick. A coarse reading is shared within one tick only:
 * a process that was stopped, or whose host slept, serves nothing by the time from before.
 */
export function createClock({ monotonic, timeOfDay, sinceStart, afterTick }: ClockSources): Clock {
  let lastMonotonic = monotonic()
  let lastTimeOfDay = timeOfDay()
  // What the host slept before does not count.
  const sleptBefore = sinceStart() - lastMonotonic
  let slept = 0
  let time = 0
  let readings = 0
  let inTick = false
  const endTick = (): void => {
    inTick = false
    readings = 0
  }
  const beginTick = (): void => {
    const at = monotonic()
    const day = timeOfDay()
    const passed = at - lastMonotonic
    if (day - lastTimeOfDay - passed > SHORTEST_SLEEP + passed * SLEWED) {
      const sleptSince = sinceStart() - at - sleptBefore
      if (sleptSince - slept > SHORTEST_SLEEP / 2) slept = sleptSince
    }
    lastMonotonic = at
    lastTimeOfDay = day
    time = at + slept
    inTick = true
    afterTick(endTick)
  }
  const now = (): number => {
    if (inTick) return monotonic() + slept
    beginTick()
    return time
  }
  const read = (): void => {
    time = now()
    readings = COARSE_READINGS
  }
  return {
    now,
    coarseNow() {
      if (readings > 0) readings -= 1
      else read()
      return time
    },
    elapsed: monotonic,
  }
}
