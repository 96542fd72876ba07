import { describe, expect, test } from '@jest/globals'
import { ReleasedKeys } from '../../src/road/released-keys.ts'

describe('the releases of a key', () => {
  test('are known to requests that waited at the time, and not to later ones', () => {
    const releases = new ReleasedKeys()
    const early = releases.latest
    releases.note('a')
    const late = releases.latest
    expect([
      releases.releasedAfter('a', early),
      releases.releasedAfter('b', early),
      releases.releasedAfter('a', late),
    ]).toEqual([true, false, false])
  })

  test('are remembered for the latest 1,000 keys, and for at most twice as many', () => {
    const releases = new ReleasedKeys()
    for (let key = 1; key <= 3000; key += 1) releases.note(`${key}`)
    expect(['1', '1000', '2001', '3000'].map((key) => releases.releasedAfter(key, 0))).toEqual([
      false,
      false,
      true,
      true,
    ])
  })
})
