import type { ReleasePermit } from '../flight/admission-control.ts'
import { identity } from '../lookup/lookup-result.ts'
import { Batch, batchTurn, type ManyLoader } from './batch.ts'
import { ABSENT } from '../load.ts'
import type { Engine } from '../flight/engine.ts'
import type { Call } from '../flight/call.ts'
import { WaitTimeoutError } from '../errors.ts'
import type { LookupRun } from '../lookup/lookup-run.ts'

/**
 * The values of many keys, by one call of the loader for those that this process leads. Each call names its key and settings; its loader is the
 * batch's.
 *
 * @throws what the first failing key's call throws.
 */
export async function loadMany<V>(
  calls: readonly Call[],
  loader: ManyLoader<V>,
  engine: Engine,
  refresher: LookupRun,
): Promise<Map<string, V>> {
  const turn = await turnFor(calls, engine, refresher)
  const keys = calls.map(({ requestedKey }) => requestedKey)
  const batch = new Batch(keys, loader, engine.admission, turn)
  const answers = await Promise.allSettled(calls.map((call) => member(call, batch, refresher)))
  const values = new Map<string, V>()
  for (const [index, answer] of answers.entries()) {
    if (answer.status === 'rejected') throw answer.reason
    if (answer.value !== ABSENT) values.set(keys[index] ?? '', answer.value as V)
  }
  return values
}

/** A turn for the loads of all of them; none where all values are at hand. */
async function turnFor(
  calls: readonly Call[],
  { admission, runtime }: Engine,
  refresher: LookupRun,
): Promise<ReleasePermit | undefined> {
  const missing = calls.find(({ key, settings }) => refresher.peek(key, settings) === undefined)
  if (missing === undefined) return undefined
  const { waitTimeout } = missing.settings
  const turn = await batchTurn(admission, runtime, waitTimeout)
  if (turn === undefined) throw new WaitTimeoutError(missing.requestedKey, waitTimeout)
  return turn
}

async function member(call: Call, batch: Batch, refresher: LookupRun): Promise<unknown> {
  const decide = (): void => batch.decide(call.requestedKey)
  try {
    const loader = batch.loaderOf(call.requestedKey)
    const answer = await refresher.run({ ...call, loader, sharedWaiter: batch.party, onWait: decide }, identity)
    // Its load may still begin, behind the stale value.
    if (answer.refresh === undefined) decide()
    else void answer.refresh.then(decide)
    return answer.value
  } catch (error) {
    decide()
    throw error
  }
}
