import { AsyncLocalStorage } from 'node:async_hooks'
import { readFileSync } from 'node:fs'
import { TestEnvironment } from 'jest-environment-node'

type Storage = AsyncLocalStorage<unknown>

/** What was switched on since the last test file ended. */
const switchedOn = new Set<Storage>()

for (const name of ['run', 'enterWith'] as const) {
  const original = AsyncLocalStorage.prototype[name] as (...args: unknown[]) => unknown
  const noted = function (this: Storage, ...args: unknown[]): unknown {
    switchedOn.add(this)
    return original.apply(this, args)
  }
  Object.assign(AsyncLocalStorage.prototype, { [name]: noted })
}

/** The titles of tests whose behaviour is not there yet. Each must fail until it is: a line goes when its test holds. */
const open = new Set(readFileSync(`${import.meta.dirname ?? __dirname}/open-tests.txt`, 'utf8').split('\n'))

/** A test of jest-circus, or the block around it. */
interface Titled {
  readonly name: string
  readonly parent?: Titled | undefined
  failing?: boolean
}

function fullName({ name, parent }: Titled): string {
  return parent?.parent === undefined ? name : `${fullName(parent)} ${name}`
}

/**
 * Node's environment, and at the end of a file its storages are switched off. jest-circus opens one for every file and leaves it on; in Node 20
 * every promise of the process then pays for each file that its worker has run, and the last ones take twice as long as the first.
 */
export default class Environment extends TestEnvironment {
  handleTestEvent({ name, test }: { readonly name: string; readonly test?: Titled }): void {
    if (name === 'test_start' && test !== undefined && open.has(fullName(test))) test.failing = true
  }

  override async teardown(): Promise<void> {
    await super.teardown()
    for (const storage of switchedOn) storage.disable()
    switchedOn.clear()
  }
}
