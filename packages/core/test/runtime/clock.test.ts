import { describe, expect, it } from '@jest/globals'
import { type Clock, createClock } from '../../src/runtime/clock.ts'

/** A clock over sources that the test moves. */
class Host {
  monotonic = 5000
  timeOfDay = 1_900_000_000_000
  /** How long the host has slept: the time since its start counts that. */
  slept = 40_000
  readings = 0
  readonly #afterTick: (() => void)[] = []
  readonly clock: Clock = createClock({
    monotonic: () => ((this.readings += 1), this.monotonic),
    timeOfDay: () => this.timeOfDay,
    sinceStart: () => this.monotonic + this.slept,
    afterTick: (action) => void this.#afterTick.push(action),
  })

  pass(ms: number, timeOfDay = ms): void {
    this.monotonic += ms
    this.timeOfDay += timeOfDay
  }

  sleep(ms: number): void {
    this.slept += ms
    this.timeOfDay += ms
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
    for (const length of [3_600_000, 30_000, 0]) {
      const before = host.clock.now()
      host.endTick()
      host.sleep(length)
      expect(host.seen(10, 10)).toBe(10)
      expect(host.clock.now() - before).toBe(length + 10)
    }
  })

  it('sees no time pass when the time of day is set forward', () => {
    const host = new Host()
    for (const step of [60_000, 3_600_000, 60_000]) expect(host.seen(10, step)).toBe(10)
  })

  it('has a second clock, which does not count the sleep', () => {
    const host = new Host()
    const before = host.clock.elapsed()
    host.clock.now()
    host.endTick()
    host.sleep(3_600_000)
    host.pass(10)
    // The first clock has seen the sleep.
    expect(host.clock.now()).toBeGreaterThan(3_600_000)
    expect(host.clock.elapsed() - before).toBe(10)
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
    host.pass(1)
    host.sleep(30_000)
    expect(host.clock.coarseNow()).toBe(before + 90_001)
  })
})
