import { AsyncLocalStorage } from 'node:async_hooks'
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

/**
 * Node's environment, and at the end of a file its storages are switched off. jest-circus opens one for every file and leaves it on; in Node 20
 * every promise of the process then pays for each file that its worker has run, and the last ones take twice as long as the first.
 */
export default class Environment extends TestEnvironment {
  override async teardown(): Promise<void> {
    await super.teardown()
    for (const storage of switchedOn) storage.disable()
    switchedOn.clear()
  }
}
