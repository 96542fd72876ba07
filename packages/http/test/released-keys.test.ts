import { describe, expect, test } from '@jest/globals'
import { ReleasedKeys } from '../src/lookup/released-keys.ts'

describe('releases', () => {
  test('are known to who was on its way when its key was released, and to nobody that came later', () => {
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

  test('are remembered of so many keys only, the latest ones', () => {
    const releases = new ReleasedKeys()
    for (let key = 0; key <= 1000; key += 1) releases.note(`${key}`)
    expect([releases.releasedAfter('0', 0), releases.releasedAfter('1', 0), releases.releasedAfter('1000', 0)]).toEqual(
      [false, true, true],
    )
  })
})
