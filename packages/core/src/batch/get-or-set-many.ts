import { identity } from '../lookup/lookup-result.ts'
import { Batch, type ManyLoader } from './batch.ts'
import { ABSENT } from '../load.ts'
import type { EngineServices } from '../flight/engine-services.ts'
import type { Call } from '../flight/call.ts'
import type { LookupRunner } from '../lookup/lookup-runner.ts'

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
  const keys = calls.map(({ requestedKey }) => requestedKey)
  const batch = new Batch(keys, loader, services.admission)
  const results = await Promise.allSettled(calls.map((call) => lookUpOne(call, batch, lookups)))
  const values = new Map<string, V>()
  for (const [index, result] of results.entries()) {
    if (result.status === 'rejected') throw result.reason
    if (result.value !== ABSENT) values.set(keys[index] ?? '', result.value as V)
  }
  return values
}

async function lookUpOne(call: Call, batch: Batch, lookups: LookupRunner): Promise<unknown> {
  const markReady = (): void => batch.markReady(call.requestedKey)
  try {
    const loader = batch.loaderOf(call.requestedKey)
    const result = await lookups.run({ ...call, loader, batch: batch.memberOf(call.requestedKey) }, identity)
    // A background refresh may still call the loader, so the key is decided only when it ends.
    if (result.refresh === undefined) markReady()
    else void result.refresh.then(markReady)
    return result.value
  } catch (error) {
    markReady()
    throw error
  }
}
