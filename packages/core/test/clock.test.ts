import { describe, expect, it } from '@jest/globals'
import { type Clock, createClock } from '../src/runtime/clock.ts'

/** A clock over sources that the test moves. */
class Host {
  monotonic = 5000
  timeOfDay = 1_900_000_000_000
  readings = 0
  readonly #afterTick: (() => void)[] = []
  readonly clock: Clock = createClock({
    monotonic: () => ((this.readings += 1), this.monotonic),
    timeOfDay: () => this.timeOfDay,
    afterTick: (action) => void this.#afterTick.push(action),
  })

  pass(ms: number, timeOfDay = ms): void {
    this.monotonic += ms
    this.timeOfDay += timeOfDay
  }

  endTick(): void {
    for (const action of this.#afterTick.splice(0)) action()
  }

  /** The time that the clock sees pass while the two sources move. */
  seen(ms: number, timeOfDay: number): number {
    const before = this.clock.now()
    this.endTick()
    this.pass(ms, timeOfDay)
    return this.clock.now() - before
  }
}

describe('the clock', () => {
  it('counts the time in which the host slept, which the monotonic clock does not see', () => {
    const host = new Host()
    expect(host.seen(10, 3_600_010)).toBe(3_600_010)
    expect(host.seen(10, 10)).toBe(10)
  })

  it.each([
    ['is set back', 100, -120_000],
    ['is slewed for an hour', 3_600_000, 3_601_800],
    ['leads by less than a second', 100, 1000],
  ])('does not count what the time of day says when it %s', (_, passed, timeOfDay) => {
    expect(new Host().seen(passed, timeOfDay)).toBe(passed)
  })

  it('never steps back', () => {
    const host = new Host()
    let last = host.clock.now()
    for (const step of [-3_600_000, 7_200_000, -60_000, 0, 500, 90_000]) {
      host.endTick()
      host.pass(1, step)
      expect(host.clock.now()).toBeGreaterThan(last)
      last = host.clock.now()
    }
  })

  it('shows each exact reading within a tick the time that has passed since the last one', () => {
    const host = new Host()
    const first = host.clock.now()
    host.pass(30)
    expect(host.clock.now() - first).toBe(30)
  })

  it('is read once in a tick for 17 coarse readings, and anew in the next tick', () => {
    const host = new Host()
    host.readings = 0
    for (let count = 0; count < 17; count += 1) host.clock.coarseNow()
    expect(host.readings).toBe(1)
    host.endTick()
    host.clock.coarseNow()
    expect(host.readings).toBe(2)
  })

  it('shows the first coarse reading of a tick the time in which the process stood still, or its host slept', () => {
    const host = new Host()
    const before = host.clock.coarseNow()
    host.endTick()
    host.pass(60_000)
    expect(host.clock.coarseNow()).toBe(before + 60_000)
    host.endTick()
    host.pass(1, 30_001)
    expect(host.clock.coarseNow()).toBe(before + 90_001)
  })
})
