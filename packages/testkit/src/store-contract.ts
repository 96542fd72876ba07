import { type ContractRunner, globalRunner } from './contract-runner.ts'
import { describeAwkwardData } from './store-contract/awkward-data.ts'
import { describeBoards } from './store-contract/boards.ts'
import { describeClearing } from './store-contract/clearing.ts'
import { describeCommits } from './store-contract/commits.ts'
import { describeEndings } from './store-contract/endings.ts'
import { describeExpiredTags } from './store-contract/expired-tags.ts'
import { describeInspection } from './store-contract/inspection.ts'
import { describeInvalidation } from './store-contract/invalidation.ts'
import { describeLeases } from './store-contract/leases.ts'
import { describeNotices } from './store-contract/notices.ts'
import { describePuts } from './store-contract/puts.ts'
import { describeQuestions } from './store-contract/questions.ts'
import { describeRefreshPermits } from './store-contract/refresh-permits.ts'
import type { StoreFactory } from './store-contract/stage.ts'
import { describeTags } from './store-contract/tags.ts'

export type { StoreFactory, StoreUnderTest } from './store-contract/stage.ts'

/**
 * Declares the tests that every store must pass. A test waits only for short durations to end, so a slow
 * machine slows it and fails nothing.
 *
 * @param name the name of the store, for the test titles.
 * @param factory opens an empty store; it is called once for each test.
 * @param runner the test runner. Default: the global `describe` and `test`.
 *
 * @example
 * import { memoryStore } from '@cattlegrid/core'
 * import { createManualRuntime, describeStoreContract } from '@cattlegrid/testkit'
 *
 * describeStoreContract('a memory store', async () => {
 *   const runtime = createManualRuntime()
 *   const store = memoryStore({ runtime })
 *   const advance = (ms: number) => runtime.advance(ms)
 *   return { open: async () => store, advance, now: () => runtime.now(), stop: () => store.close() }
 * })
 */
export function describeStoreContract(
  name: string,
  factory: StoreFactory,
  runner: ContractRunner = globalRunner(),
): void {
  const contract = { factory, describe: runner.describe, test: runner.test }
  const parts = [
    describeLeases,
    describeCommits,
    describeEndings,
    describePuts,
    describeInvalidation,
    describeTags,
    describeExpiredTags,
    describeRefreshPermits,
    describeBoards,
    describeNotices,
    describeClearing,
    describeInspection,
    describeQuestions,
    describeAwkwardData,
  ]
  runner.describe(`the store contract on ${name}`, () => {
    for (const part of parts) part(contract)
  })
}
