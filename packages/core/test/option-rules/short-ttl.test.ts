import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createCache } from '@cattlegrid/core'
import { memoryCache } from '../support/memory-cache.ts'

const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)

beforeEach(() => void emitWarning.mockClear())

describe('a ttl below 100 that is given as a number', () => {
  it('of a cache gives one warning for the whole process', () => {
    for (let made = 0; made < 3; made += 1) createCache({ ttl: 30 })
    expect(emitWarning.mock.calls).toEqual([
      [
        "createCache.ttl: 30 means 30 ms; did you mean '30s'? If not, write '30ms'.",
        { type: 'CattlegridWarning', code: 'CATTLEGRID_SHORT_TTL' },
      ],
    ])
  })

  it('of calls gives one warning for each method', async () => {
    const { cache } = memoryCache()
    for (const ttl of [60, 99]) await cache.getOrSet('k', () => 'value', { ttl })
    expect(emitWarning).toHaveBeenCalledTimes(1)
    expect(emitWarning).toHaveBeenCalledWith(expect.stringContaining('getOrSet.ttl: 60 means 60 ms'), expect.anything())
  })

  it('is told to the subscribers of the diagnostics channel instead', async () => {
    const seen: unknown[] = []
    const note = (event: unknown): void => void seen.push(event)
    subscribe('cattlegrid:warning', note)
    await memoryCache().cache.set('k', 'value', { ttl: 5 })
    unsubscribe('cattlegrid:warning', note)
    expect(seen).toEqual([{ message: expect.stringContaining('set.ttl: 5 means') }])
    expect(emitWarning).not.toHaveBeenCalled()
  })

  it('gives no warning where a loader computes it, where a text says so, or where it is refused', async () => {
    const { cache } = memoryCache()
    await cache.getOrSet('k', ({ keep }) => keep({ ttl: 30 }))
    await cache.refresh('k', () => 'value', { ttl: '30ms' })
    await cache.refresh('k', () => 'value', { ttl: 100 })
    await expect(cache.refresh('k', () => 'value', { ttl: 0 })).rejects.toThrow('ttl')
    expect(emitWarning).not.toHaveBeenCalled()
  })
})
