import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { expect, jest, test } from '@jest/globals'
import { invalidateAfterWrite } from '../src/purge/invalidate-after-write.ts'

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

test('while the store is away the tags are tried again behind, until it takes them', async () => {
  const runtime = createManualRuntime()
  const memory = memoryStore({ runtime })
  let away = true
  const store = new Proxy(memory, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name)
      if (name === 'shared') return true
      if (name !== 'invalidateTags' || !away) return typeof member === 'function' ? member.bind(target) : member
      return async () => await Promise.resolve({ kind: 'away', reason: 'error' })
    },
  })
  const cache = createCache({ runtime, store, ttl: '1h' })
  const sent: string[][] = []
  cache.on('invalidate', ({ tags }) => void sent.push([...tags]))
  await invalidateAfterWrite(cache, 'The write', () => ['product:7'])
  expect(sent).toEqual([])
  away = false
  await runtime.advance(1001)
  expect(sent).toEqual([['product:7']])
  await cache.close({ drain: 1 })
})
