import { type ContractRunner, globalRunner } from './contract-runner.ts'
import { describeAwkwardData } from './store-contract/awkward-data.ts'
import { describeClearing } from './store-contract/clearing.ts'
import { describeCommits } from './store-contract/commits.ts'
import { describeEndings } from './store-contract/endings.ts'
import { describeInspection } from './store-contract/inspection.ts'
import { describeInvalidation } from './store-contract/invalidation.ts'
import { describeLeases } from './store-contract/leases.ts'
import { describeNotices } from './store-contract/notices.ts'
import { describePuts } from './store-contract/puts.ts'
import type { StoreFactory } from './store-contract/stage.ts'
import { describeTags } from './store-contract/tags.ts'

export type { StoreFactory, StoreUnderTest } from './store-contract/stage.ts'

/**
 * What every store must do. Only durations that a test waits out are short, so a slow machine makes it slow, not red.
 *
 * @param name the store, for the titles.
 * @param factory sets up an empty store for one test.
 * @param runner the test runner. Default: the global `describe` and `test`.
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
    describeNotices,
    describeClearing,
    describeInspection,
    describeAwkwardData,
  ]
  runner.describe(`the store contract on ${name}`, () => {
    for (const part of parts) part(contract)
  })
}
