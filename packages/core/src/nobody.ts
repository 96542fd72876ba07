import { AsyncResource } from 'node:async_hooks'

const nobody = new AsyncResource('cattlegrid')

/**
 * Runs what is done for all requests and so belongs to none. In Node a promise or a timer keeps the AsyncLocalStorage that it was made in: one
 * that outlives its request would keep that request's whole context.
 */
export function asNobody<T>(run: () => T): T {
  return nobody.runInAsyncScope(run)
}
