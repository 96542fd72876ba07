/** What one process has said of its loads from a source. */
export interface LoadWants {
  readonly running: number
  /** The loads that wait for a permit. */
  readonly queued: number
  /** The most loads at once that it may begin until its next report. */
  readonly mayBegin: number
}

/**
 * A permit that goes round stays with one process for this time, ms: at least the first, and so much for
 * each process.
 */
const TURN = 200
const TURN_EACH = 10

/**
 * The part of the limit that is due to one process. While all wants fit, it is what the process wants and an
 * equal part of the rest. Else each process has an equal part, or all that it wants if that is less, and what
 * is left of the division goes round by turns. Every process computes the same parts from the same wants.
 *
 * @param wants of every process, this one's included.
 * @param atOnce the limit.
 * @param now by the clock of the store, ms.
 */
export function fairShare(process: string, wants: ReadonlyMap<string, LoadWants>, atOnce: number, now: number): number {
  const total = sum(wants, wanted)
  if (total > atOnce) return fairShares(wants, atOnce, Math.floor(now / turnOf(wants.size))).get(process) ?? 0
  const own = wants.get(process)
  return (own === undefined ? 0 : wanted(own)) + Math.floor((atOnce - total) / Math.max(1, wants.size))
}

/** The time until the permits that go round change hands, ms. */
export function untilNextTurn(processes: number, now: number): number {
  const turn = turnOf(processes)
  return turn - (now % turn)
}

function turnOf(processes: number): number {
  return Math.max(TURN, TURN_EACH * processes)
}

/** What the others leave of the limit: they have what they may begin, and what they still run above that. */
export function leftByOthers(process: string, wants: ReadonlyMap<string, LoadWants>, atOnce: number): number {
  let left = atOnce
  for (const [other, { mayBegin, running }] of wants) if (other !== process) left -= Math.max(mayBegin, running)
  return Math.max(0, left)
}

/**
 * Max-min fair: all who want less than an equal part have what they want. `turn` chooses who has what is left
 * of the division.
 */
function fairShares(wants: ReadonlyMap<string, LoadWants>, atOnce: number, turn: number): ReadonlyMap<string, number> {
  const hungry = [...wants].toSorted(([, a], [, b]) => wanted(a) - wanted(b))
  const shares = new Map<string, number>()
  let left = atOnce
  for (let next = hungry[0]; next !== undefined && wanted(next[1]) <= left / hungry.length; next = hungry[0]) {
    shares.set(next[0], wanted(next[1]))
    left -= wanted(next[1])
    hungry.shift()
  }
  const part = Math.floor(left / hungry.length)
  const over = left - part * hungry.length
  const inTurn = hungry.map(([process]) => process).toSorted()
  for (const [place, process] of inTurn.entries()) {
    const isNext = (place + turn * over) % inTurn.length < over
    shares.set(process, isNext ? part + 1 : part)
  }
  return shares
}

function wanted({ running, queued }: LoadWants): number {
  return running + queued
}

function sum(wants: ReadonlyMap<string, LoadWants>, of: (want: LoadWants) => number): number {
  let total = 0
  for (const want of wants.values()) total += of(want)
  return total
}
