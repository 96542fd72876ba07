import { AsyncLocalStorage } from 'node:async_hooks'
import { processWide } from './process-wide.ts'

/** What the current code runs inside of: what its caller entered last, of each kind. */
class Scopes {
  readonly load: object | undefined
  readonly handler: object | undefined

  constructor(load: object | undefined, handler: object | undefined) {
    this.load = load
    this.handler = handler
  }
}

/**
 * One storage for both kinds, and for all copies of this package: for each storage that is enabled, Node 20
 * and 22 do the same work again at every promise of the process, and a copy with its own would not see inside
 * which load of another one its code runs.
 */
const shared = processWide('scopes/2', () => ({ storage: new AsyncLocalStorage<Scopes>(), opened: 0 }))
const { storage } = shared

/** Announces a scope, which may be entered any number of times until it is closed. */
export function openScope(): void {
  shared.opened += 1
}

/**
 * Closes a scope that was opened. The close of the last one disables the storage until the next is entered:
 * while it is enabled, Node 20 and 22 track every promise of the process, which more than doubles the cost
 * of each.
 */
export function closeScope(): void {
  shared.opened -= 1
  if (shared.opened === 0) storage.disable()
}

/** Runs code inside a scope of one kind; of the other kind it stays where it is. */
export function enterScope<T>(kind: keyof Scopes, scope: object, code: () => T): T {
  const around = storage.getStore()
  return storage.run(kind === 'load' ? new Scopes(scope, around?.handler) : new Scopes(around?.load, scope), code)
}

/** The scope of this kind that the current code was entered in last, also if that has been closed. */
export function currentScope(kind: keyof Scopes): object | undefined {
  return shared.opened === 0 ? undefined : storage.getStore()?.[kind]
}
