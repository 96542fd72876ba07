import { describe, expect, it } from '@jest/globals'
import { LoadQueue } from '../../src/flight/load-queue.ts'
import type { QueuedLoad } from '../../src/flight/permits.ts'

type Load = { -readonly [K in keyof QueuedLoad]: QueuedLoad[K] }

function load(callers = 1): Load {
  return { callers, patience: Infinity, onPermit: () => undefined, refuse: () => undefined }
}

describe('the loads that wait for a permit', () => {
  it('go in the order of their callers, and of equal ones the newest first', () => {
    const queue = new LoadQueue()
    const [old, hot, fresh] = [load(), load(), load()]
    for (const one of [old, hot, fresh]) queue.add(one, 0)
    hot.callers = 5
    expect(queue.rank().map(([one]) => one)).toEqual([hot, fresh, old])
    const newest = load()
    queue.add(newest, 1)
    expect([queue.take(), queue.take(), queue.take(), queue.take(), queue.take()]).toEqual([
      hot,
      newest,
      fresh,
      old,
      undefined,
    ])
  })

  it('are no longer taken after they left', () => {
    const queue = new LoadQueue()
    const [first, second] = [load(), load()]
    queue.add(first, 0)
    queue.rank()
    queue.add(second, 0)
    queue.delete(first)
    queue.delete(second)
    expect([queue.size, queue.take()]).toEqual([0, undefined])
  })

  it('say since when some load has waited without a break', () => {
    const queue = new LoadQueue()
    queue.add(load(), 5)
    queue.add(load(), 7)
    expect(queue.stoodSince).toBe(5)
    queue.take()
    queue.take()
    queue.add(load(), 9)
    expect(queue.stoodSince).toBe(9)
  })
})
