import { describe, expect, it } from '@jest/globals'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'

describe('a loader that blocks the event loop for longer than its lease', () => {
  it.each([
    ['at once', 0],
    ['and its overdue timers ran', 1],
  ])('has its value stored by a memory store, %s', async (_, pause) => {
    const manual = createManualRuntime()
    let blocked = 0
    const now = (): number => manual.now() + blocked
    const runtime = { ...manual, now, coarseNow: now }
    const cache = createCache({ runtime, store: memoryStore({ runtime }), ttl: '1m', lease: { duration: '1s' } })
    const call = cache.lookup('k', async () => {
      blocked = 20_000
      if (pause > 0) await new Promise<void>((resolve) => void runtime.schedule(resolve, 5000))
      return 'late'
    })
    await manual.advance(6000)
    expect(await call).toMatchObject({ value: 'late', outcome: { kind: 'committed' } })
    expect(await cache.get('k')).toBe('late')
  })
})
