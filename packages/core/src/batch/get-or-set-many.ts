import { identity } from '../lookup/lookup-result.ts'
import { Batch, type ManyLoader } from './batch.ts'
import { ABSENT } from '../load.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { Call } from '../flight/call.ts'
import { WaitTimeoutError } from '../errors.ts'
import type { LookupRunner } from '../lookup/lookup-runner.ts'
import { LoadPermit } from '../refresh/load-permit.ts'

/** The loader of a call until its batch replaces it. */
export const NO_LOADER = (): undefined => undefined

/**
 * Looks up many keys, with one loader call for those that this process leads. It replaces the loader of each of `calls`.
 *
 * @throws the error of the first key, in the order of `calls`, that has one.
 */
export async function lookUpMany<V>(
  calls: readonly Call[],
  loader: ManyLoader<V>,
  services: EngineServices,
  lookups: LookupRunner,
): Promise<Map<string, V>> {
  const permit = await permitFor(calls, services, lookups)
  const keys = calls.map(({ requestedKey }) => requestedKey)
  const batch = new Batch(keys, loader, services.admission, permit)
  const results = await Promise.allSettled(calls.map((call) => lookUpOne(call, batch, lookups)))
  const values = new Map<string, V>()
  for (const [index, result] of results.entries()) {
    if (result.status === 'rejected') throw result.reason
    if (result.value !== ABSENT) values.set(keys[index] ?? '', result.value as V)
  }
  return values
}

/**
 * Acquires one permit for the loads of all keys; undefined when `peek` has every value, so that no load is needed.
 *
 * @throws WaitTimeoutError when no permit is free within `waitTimeout`.
 */
async function permitFor(
  calls: readonly Call[],
  { admission, runtime }: EngineServices,
  lookups: LookupRunner,
): Promise<LoadPermit | undefined> {
  const missing = calls.find(({ storedKey, settings }) => lookups.peek(storedKey, settings) === undefined)
  if (missing === undefined) return undefined
  const permit = new LoadPermit(admission)
  if (permit.tryAcquire()) return permit
  const { waitTimeout } = missing.settings
  const acquiring = permit.acquire()
  const cancel = runtime.schedule(() => permit.stopWaiting(), waitTimeout)
  if (!(await acquiring)) throw new WaitTimeoutError(missing.requestedKey, waitTimeout)
  cancel()
  return permit
}

async function lookUpOne(call: Call, batch: Batch, lookups: LookupRunner): Promise<unknown> {
  const markReady = (): void => batch.markReady(call.requestedKey)
  try {
    const loader = batch.loaderOf(call.requestedKey)
    const result = await lookups.run({ ...call, loader, sharedWaiter: batch.sharedWaiter, onWait: markReady }, identity)
    // A background refresh may still call the loader, so the key is decided only when it ends.
    if (result.refresh === undefined) markReady()
    else void result.refresh.then(markReady)
    return result.value
  } catch (error) {
    markReady()
    throw error
  }
}
