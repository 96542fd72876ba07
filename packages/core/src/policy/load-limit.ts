import type { LoadLimit, LoadLimitPolicy, LoadWindow } from './policy.ts'

/** Samples that a window holds at most. */
const WINDOW_SAMPLES = 64

/** A shorter load counts as this long, ms: the event loop of its own process may take longer than it. */
const SHORTEST = 5
/** Samples with which a small limit is judged. */
const FEWEST_SAMPLES = 4
/** Loads leave room that take less than this times `base`, and less than `base` and this time, ms. */
const FLAT = 1.3
const QUEUE = 75
/**
 * Loads queue at the source that take more than this times `base`, and more than `base` and this time, ms: a
 * process that is busy itself may see its loads end as late as that.
 */
const SLOW = 1.75
const BUSY = 35
/**
 * Growth a window until the first sign of a queue, and after each sign of one; there each step takes the root
 * of the last, down to the least.
 */
const FAST_GROWTH = 2
const NEXT_GROWTH = 1.2
const LEAST_GROWTH = 1.05
/** Part of the last flat limit that replaces a limit that was too high. */
const BACK = 0.9
/** A cut to half has helped if it shortens loads to less than this part. */
const HELPED = 0.75
/**
 * Full windows in a row, while more loads are wanted, after which the limit is tested; and the most, because
 * each test in vain doubles them. Flat ones do not count once a test in vain has proven the base.
 */
const TEST_AFTER = 5
const MOST_TEST_AFTER = 640
/** Weight of one window in `base`. */
const BASE_WEIGHT = 0.25
/** A window is full if more than this part of the limit ran on average. Only a full one can prove a queue. */
const FULL = 0.75

const first: LoadLimit = { limit: 12, growth: FAST_GROWTH, fullFor: 0 }

/** See docs/protocol.md. */
export const limitThatFollows: LoadLimitPolicy = { first, samples: WINDOW_SAMPLES, next: nextLimit }

/** Closes the window and returns the next limit, or undefined while the window needs more samples. */
function nextLimit(state: LoadLimit, window: LoadWindow): LoadLimit | undefined {
  const { limit, tested } = state
  const seen = medianOf(window)
  if (seen.count < Math.max(FEWEST_SAMPLES, Math.min(WINDOW_SAMPLES, limit / 2))) return undefined
  // After a cut, the loads from before it still fill the source: such a window tells nothing.
  if (window.running > limit * 1.1) return seen.atMost === Infinity ? undefined : state
  if (tested === undefined) return judge(state, window, seen)
  const enough = tested * HELPED
  const { testAfter = TEST_AFTER } = state
  const known = { ...state, fullFor: 0, tested: undefined }
  if (seen.atMost < enough) {
    const base = Math.min(state.base ?? Infinity, seen.atMost)
    return judge({ ...known, base, growth: NEXT_GROWTH, testAfter: undefined }, window, seen)
  }
  const inVain = seen.atLeast >= enough || seen.count >= WINDOW_SAMPLES
  if (!inVain || !seen.exact) return undefined
  const later = Math.min(MOST_TEST_AFTER, testAfter * 2)
  return { ...known, limit: limit * 2, flat: limit * 2, base: seen.median, testAfter: later }
}

function judge(state: LoadLimit, { running, bound }: LoadWindow, seen: Median): LoadLimit | undefined {
  const { limit, base = seen.atMost, flat = Infinity, testAfter = TEST_AFTER } = state
  const full = running > limit * FULL
  const bar = Math.min(base * FLAT, base + QUEUE)
  const flatNow = seen.atMost < bar
  // Once the base is proven, loads that take as long as it need no test.
  const fullFor = full && bound && (!flatNow || state.testAfter === undefined) ? state.fullFor + 1 : 0
  const slowFrom = Math.max(base * SLOW, base + BUSY)
  const slow = full && seen.atLeast >= slowFrom
  const maybeSlow = full && seen.atLeastOnceEnded >= slowFrom
  const growth = Math.min(state.growth, NEXT_GROWTH)
  if (slow && limit <= 1) return { ...state, base: seen.median, growth, flat: limit }
  // In whole loads: of three, 0.9 would be two, and a source that takes three is then too small.
  const least = Math.ceil(Math.floor(flat) * BACK)
  if (slow && limit > flat) return { ...state, limit: least, growth, fullFor }
  if (limit > 1 && (slow || (fullFor >= testAfter && seen.exact)))
    return { ...state, limit: Math.max(1, limit / 2), growth, tested: seen.median }
  if (!seen.exact && !(bound && flatNow)) return undefined
  // Under a standing overload, a base that follows slow loads would rise without end.
  const moves = !full || seen.atMost < base
  const kept = { ...state, fullFor, base: moves ? base + (seen.atMost - base) * BASE_WEIGHT : base }
  if (bound && flatNow)
    return { ...kept, limit: Math.max(limit + 1, limit * state.growth), growth: nextGrowth(state.growth), flat: limit }
  if (full && bound && limit > least && seen.atLeast >= bar)
    return { ...kept, limit: Math.max(least, limit / LEAST_GROWTH), growth }
  return maybeSlow || (full && seen.count < WINDOW_SAMPLES) ? undefined : kept
}

function nextGrowth(growth: number): number {
  return growth < FAST_GROWTH ? Math.max(LEAST_GROWTH, Math.sqrt(growth)) : growth
}

/** Growth needs a median that is surely low; a cut needs one that is surely high. */
interface Median {
  readonly count: number
  /** The median when the loads that run are taken as endless. */
  readonly atMost: number
  /** The median when the loads that run are taken as ended now. */
  readonly median: number
  /** Whether the loads that run cannot move the median. */
  readonly exact: boolean
  /** The lower end of the 95 % confidence interval of `median`: rank `n/2 - √n`. */
  readonly atLeast: number
  /** The same when the loads that run are taken as endless. */
  readonly atLeastOnceEnded: number
}

function medianOf({ times, ages }: LoadWindow): Median {
  const count = times.length + ages.length
  const ended = times.map(counted).toSorted(ascending)
  const all = [...ended, ...ages.map(counted)].toSorted(ascending)
  const middle = count >> 1
  const low = Math.max(0, Math.floor(count / 2 - Math.sqrt(count)))
  const [atMost, median] = [ended[middle] ?? Infinity, all[middle] ?? 0]
  return {
    count,
    atMost,
    median,
    exact: median === atMost,
    atLeast: all[low] ?? 0,
    atLeastOnceEnded: ended[low] ?? Infinity,
  }
}

const counted = (time: number): number => Math.max(time, SHORTEST)

const ascending = (one: number, other: number): number => one - other
