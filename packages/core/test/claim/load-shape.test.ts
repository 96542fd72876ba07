import { describe, expect, it } from '@jest/globals'
import { setFlagsFromString } from 'node:v8'
import { createCache, type Load } from '../../src/index.ts'

describe('the argument of loaders', () => {
  it('has one hidden class for all loads: V8 frees a class of its own only in a major collection, and the load with it', async () => {
    const cache = createCache({ ttl: '1m', staleIfError: '1m' })
    const loads: Load[] = []
    for (const key of ['one', 'another', 'one']) {
      await cache.getOrSet(key, (load) => void loads.push(load))
      await cache.expire(key)
    }
    const [first, second, replacing] = loads
    expect(sameHiddenClass(first, second)).toBe(true)
    expect(sameHiddenClass(first, replacing)).toBe(true)
    expect(sameHiddenClass(first, {})).toBe(false)
    await cache.close()
  })
})

function sameHiddenClass(one: unknown, other: unknown): boolean {
  setFlagsFromString('--allow-natives-syntax')
  // oxlint-disable-next-line typescript/no-implied-eval -- the parser of this file knows no natives.
  const compare = new Function('one', 'other', 'return %HaveSameMap(one, other)')
  setFlagsFromString('--no-allow-natives-syntax')
  return compare(one, other) as boolean
}
