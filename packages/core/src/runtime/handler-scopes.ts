import { closeScope, currentScope, enterScope, openScope } from './async-scopes.ts'

// Loads and handlers share one storage: on Node 20 and 22, each further AsyncLocalStorage that is enabled
// slows every promise of the process.

/**
 * Announces a scope, which may be entered any number of times until `close`.
 *
 * @example
 * import { handlerScopes } from '@cattlegrid/core/extend'
 *
 * const scope = {}
 * handlerScopes.open()
 * handlerScopes.enter(scope, () => console.log(handlerScopes.current() === scope)) // true
 * handlerScopes.close()
 */
export function open(): void {
  openScope()
}

/**
 * Ends what one `open` announced. While nothing is open, no promise is tracked.
 *
 * @example
 * import { handlerScopes } from '@cattlegrid/core/extend'
 *
 * handlerScopes.open()
 * handlerScopes.close()
 */
export function close(): void {
  closeScope()
}

/**
 * Runs `code` inside `scope`, and with it the promises, timers and callbacks that it makes.
 *
 * @example
 * import { handlerScopes } from '@cattlegrid/core/extend'
 *
 * const answer = handlerScopes.enter({ url: '/products/7' }, () => 42)
 */
export function enter<T>(scope: object, code: () => T): T {
  return enterScope('handler', scope, code)
}

/**
 * Returns the scope that the current code was entered in last, also after its `close`.
 *
 * @example
 * import { handlerScopes } from '@cattlegrid/core/extend'
 *
 * console.log(handlerScopes.current()) // undefined
 */
export function current(): object | undefined {
  return currentScope('handler')
}
