import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'
import { expect, jest, test } from '@jest/globals'
import { invalidateAfterWrite } from '../src/invalidate-after-write.ts'

test('a write whose tags cannot be made is told once, and does not fail', async () => {
  const cache = createCache({ runtime: createManualRuntime() })
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  try {
    await invalidateAfterWrite(cache, 'The write', () => {
      throw new TypeError('no id of customer 7')
    })
    await invalidateAfterWrite(cache, 'The write', () => [7 as never])
    const texts = warned.mock.calls.map(([text]) => String(text))
    expect(texts).toEqual([
      expect.stringContaining('The write is done, but the function that names its tags has failed (TypeError)'),
      expect.stringContaining('The write is done, but its tags cannot be invalidated'),
    ])
    expect(texts.join('')).not.toContain('customer')
  } finally {
    warned.mockRestore()
    await cache.close()
  }
})

/** A cache on a store that takes no invalidations while it is away. */
function onAbsentStore(): {
  readonly cache: Cache
  readonly runtime: ManualRuntime
  readonly state: { away: boolean }
} {
  const runtime = createManualRuntime()
  const memory = memoryStore({ runtime })
  const state = { away: true }
  const store = new Proxy(memory, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (name === 'shared') return true
      if (name !== 'invalidateTags' || !state.away) return typeof member === 'function' ? member.bind(target) : member
      return async () => await Promise.resolve({ kind: 'away', reason: 'error' })
    },
  })
  return { cache: createCache({ runtime, store, ttl: '1h' }), runtime, state }
}

test('while the store is away the tags are tried again behind, until it takes them', async () => {
  const { cache, runtime, state } = onAbsentStore()
  const sent: string[][] = []
  cache.on('invalidate', ({ tags }) => void sent.push([...tags]))
  await invalidateAfterWrite(cache, 'The write', () => ['product:7'])
  expect(sent).toEqual([])
  state.away = false
  await runtime.advance(1001)
  expect(sent).toEqual([['product:7']])
  await cache.close({ drain: 1 })
})

test('a store that stays away is given up after ten minutes, and that is told', async () => {
  const { cache, runtime, state } = onAbsentStore()
  const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  const sent: unknown[] = []
  cache.on('invalidate', (event) => void sent.push(event))
  try {
    await invalidateAfterWrite(cache, 'The write', () => ['product:7'])
    for (let second = 0; second < 700; second += 1) await runtime.advance(1000)
    expect(warned.mock.calls.map(([text]) => String(text))).toEqual([
      expect.stringContaining('The write is done, but the store has stayed away'),
    ])
    state.away = false
    await runtime.advance(600_000)
    expect(sent).toEqual([])
  } finally {
    warned.mockRestore()
    await cache.close({ drain: 1 })
  }
})
