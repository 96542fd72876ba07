import { describe, expect, test } from '@jest/globals'
import { OwnVary } from '../src/capture/own-vary.ts'

describe('the names in Vary that a handler gives itself', () => {
  test.each<[string, readonly (readonly [unknown, unknown])[], string | undefined]>([
    ['nothing', [], 'Origin, Accept-Encoding'],
    ['a longer list, which continues the present one', [['Origin', 'Origin, Accept']], 'Origin, Accept-Encoding'],
    ['the present list once more', [['Origin', 'origin']], 'accept-encoding'],
    ['another list', [['Origin', ['Accept-Encoding, X-A']]], 'origin'],
    ['a list with a repeated name', [['Origin', ['Origin', 'Origin']]], 'accept-encoding'],
    [
      'all names, one after another',
      [
        [undefined, 'Origin'],
        [undefined, 'Accept-Encoding'],
      ],
      undefined,
    ],
    ['no list of texts', [['Origin', 7]], 'Origin, Accept-Encoding'],
  ])('(%s) are not those of the layers outside', (_, assignments, left) => {
    const own = new OwnVary()
    for (const [present, value] of assignments) own.note(present, value)
    const before = { vary: 'Origin, Accept-Encoding', 'x-a': '1' }
    expect(own.withoutOwn(before)).toEqual(left === undefined ? { 'x-a': '1' } : { ...before, vary: left })
  })
})
