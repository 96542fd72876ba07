import { describe, expect, test } from '@jest/globals'
import { ReleasedKeys } from '../src/lookup/released-keys.ts'

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

  test('are remembered for the latest 1,000 keys only', () => {
    const releases = new ReleasedKeys()
    for (let key = 0; key <= 1000; key += 1) releases.note(`${key}`)
    expect([releases.releasedAfter('0', 0), releases.releasedAfter('1', 0), releases.releasedAfter('1000', 0)]).toEqual(
      [false, true, true],
    )
  })
})
