import { describe, expect, it } from '@jest/globals'
import { LoadQueue } from '../../src/flight/load-queue.ts'
import type { QueuedLoad } from '../../src/flight/permits.ts'

type Load = { -readonly [K in keyof QueuedLoad]: QueuedLoad[K] }

function load(callers = 1): Load {
  return { callers, patience: Infinity, onPermit: () => undefined, refuse: () => undefined }
}

describe('the loads that wait for a permit', () => {
  it.each([
    ['the oldest', 'while the oldest has waited for less than a second', 999],
    ['the newest', 'once the oldest has waited for a second', 1000],
  ])('go in the order of their callers, and of equal ones %s first %s', (first, _, now) => {
    const inOrder = <T>(loads: readonly T[]): readonly T[] => (first === 'the oldest' ? loads : loads.toReversed())
    const queue = new LoadQueue()
    const [old, hot, fresh, newer, newest] = [load(), load(), load(), load(), load()]
    for (const one of [old, hot, fresh]) queue.add(one, 0)
    hot.callers = 5
    expect(queue.rank(now).map(([one]) => one)).toEqual([hot, ...inOrder([old, fresh])])
    queue.add(newer, now)
    queue.add(newest, now)
    const taken = Array.from({ length: 6 }, () => queue.take(now))
    for (const [place, one] of [hot, ...inOrder([old, fresh, newer, newest])].entries()) expect(taken[place]).toBe(one)
    expect(taken[5]).toBeUndefined()
  })

  it('are compared by their callers when they came since the last order', () => {
    const queue = new LoadQueue()
    const [old, hot] = [load(), load(2)]
    queue.add(old, 0)
    queue.rank(0)
    queue.add(hot, 1)
    expect(queue.take(1)).toBe(hot)
    expect(queue.take(1)).toBe(old)
  })

  it('are no longer taken after they left', () => {
    const queue = new LoadQueue()
    const [first, second] = [load(), load()]
    queue.add(first, 0)
    queue.rank(0)
    queue.add(second, 0)
    queue.delete(first)
    queue.delete(second)
    expect([queue.size, queue.take(0)]).toEqual([0, undefined])
  })

  it('stand once the oldest of those that still wait has waited for a second', () => {
    const queue = new LoadQueue()
    const oldest = load()
    expect(queue.stands(5000)).toBe(false)
    queue.add(oldest, 0)
    queue.add(load(), 500)
    expect([queue.stands(999), queue.stands(1000)]).toEqual([false, true])
    queue.delete(oldest)
    expect([queue.stands(1000), queue.stands(1500)]).toEqual([false, true])
  })
})
