import { expect, it } from '@jest/globals'
import { processWide } from '../../src/runtime/process-wide.ts'

/** As test runners do at the end of a file. */
function deleteSoftly(object: object): void {
  for (const key of Reflect.ownKeys(object)) {
    const { value } = Reflect.getOwnPropertyDescriptor(object, key) ?? {}
    if (typeof value === 'object' && value !== null) deleteSoftly(value as object)
    Reflect.defineProperty(object, key, {
      get: () => value,
      set() {
        throw new RangeError('Maximum call stack size exceeded')
      },
      configurable: true,
    })
  }
}

it('shares what can still be changed after a test runner has deleted what hangs on the global object', () => {
  const shared = processWide('test/1', () => ({ count: 0 }))
  const name = Symbol.for('cattlegrid.test/1')
  deleteSoftly({ shared: Reflect.get(globalThis, name) as object })
  shared.count += 1
  expect(processWide('test/1', () => ({ count: 0 }))).toBe(shared)
  expect(shared.count).toBe(1)
  Reflect.deleteProperty(globalThis, name)
})
