import { setTimeout as sleep } from 'node:timers/promises'
import type { Check, Group } from './check.js'
import { fleet } from './checks/fleet.js'
import { oneProcess } from './checks/one-process.js'
import { store } from './checks/store.js'
import type { Driver } from './driver.js'
import { Stage } from './stage.js'
import { Verdict } from './verdict.js'

export const groups: readonly Group[] = [oneProcess, fleet, store]

/** `not offered`: the library does not say that it has what the check needs. */
export interface Result {
  readonly id: string
  readonly outcome: 'passed' | 'failed' | 'not offered'
  /** What was seen where it failed. */
  readonly faults: readonly string[]
}

/** No check needs longer; a library that hangs would keep the others from their turn. */
const LONGEST_CHECK = 90_000

/** Plays the checks one after another, each on processes of its own. */
export async function runChecks(
  driverFile: string,
  driver: Driver,
  chosen: (check: Check) => boolean,
  onResult: (check: Check, result: Result) => void,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const check of groups.flatMap(({ checks }) => checks).filter(chosen)) {
    const result = check.needs.every((feature) => driver.offers.includes(feature))
      ? await play(driverFile, check)
      : { id: check.id, outcome: 'not offered' as const, faults: [] }
    results.push(result)
    onResult(check, result)
  }
  return results
}

async function play(driverFile: string, check: Check): Promise<Result> {
  const verdict = new Verdict()
  const stage = await Stage.open(driverFile, check.processes ?? 1, check.stage ?? {})
  const over = new AbortController()
  const tooLong = sleep(LONGEST_CHECK, undefined, { signal: over.signal }).then(() => {
    throw new Error(`It did not end in ${LONGEST_CHECK / 1000} s`)
  })
  try {
    await Promise.race([check.play(stage, verdict), tooLong])
  } catch (error) {
    verdict.faults.push(error instanceof Error ? error.message : String(error))
  } finally {
    over.abort()
    await stage.close()
  }
  return { id: check.id, outcome: verdict.faults.length === 0 ? 'passed' : 'failed', faults: verdict.faults }
}
