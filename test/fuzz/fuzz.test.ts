import { expect, jest, test } from '@jest/globals'
import * as fc from 'fast-check'
import { differencesOf } from './differences.ts'
import { isOpen } from './open.ts'
import { stacks } from './stack.ts'

test('random apps respond with the cache as they do without it, give no client what is another’s, and load once an expiry', async () => {
  // Each app that reads what is its client's own is warned about, as it should be.
  jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
  let last: Promise<readonly string[]> = Promise.resolve([])
  const property = fc.asyncProperty(stacks, async (stack) => {
    fc.pre(!isOpen(stack))
    last = differencesOf(stack)
    expect(await last).toEqual([])
  })
  await fc.assert(property, { seed: 16, numRuns: 400, plugins: [fc.interruptAfterTimeLimit(40_000)] })
  // Time may have run out while a stack was played.
  await last
})
