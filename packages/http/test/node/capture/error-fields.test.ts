import { describe, expect, test } from '@jest/globals'
import { ErrorFields } from '../../../src/node/capture/error-fields.ts'

/** Sets a field at each of these statuses, and sends the head with the last. */
function namesAfter(...statuses: readonly number[]): readonly string[] | undefined {
  const fields = new ErrorFields()
  for (const status of statuses.slice(0, -1)) fields.note(status, 'Cache-Control')
  const names = fields.namesFor(statuses.at(-1) ?? 0, ['x-own'])
  return names && [...names].toSorted()
}

describe('the fields of an error', () => {
  test.each([
    ['are those that were set with its status', [404, 404], ['cache-control', 'x-own']],
    ['are not those of the success that it replaces', [200, 404], ['x-own']],
    ['are not those of another error', [500, 404], ['x-own']],
    ['are not those that a success has set anew', [404, 200, 404], ['x-own']],
    ['are those that it has set anew', [200, 404, 404], ['cache-control', 'x-own']],
    ['do not matter to a success', [404, 200], undefined],
  ])('%s', (_title, statuses, expected) => {
    expect(namesAfter(...statuses)).toEqual(expected)
  })
})
