import { describeCacheStatus } from './adapter-contract/cache-status.ts'
import { describeCollapse } from './adapter-contract/collapse.ts'
import type { ContractRunner } from './adapter-contract/contract.ts'
import { describeDeclaring } from './adapter-contract/declaring.ts'
import { describeEligible } from './adapter-contract/eligible.ts'
import { describeFailingLeaders } from './adapter-contract/failing-leaders.ts'
import { describeKeys } from './adapter-contract/keys.ts'
import { describeServing } from './adapter-contract/serving.ts'
import type { AdapterFactory } from './adapter-contract/stage.ts'
import { describeStale } from './adapter-contract/stale.ts'
import { describeStorable } from './adapter-contract/storable.ts'

export type { ContractRunner } from './adapter-contract/contract.ts'
export type {
  ContractAnswer,
  ContractDoor,
  ContractHeaders,
  ContractRequest,
  ContractRoute,
} from './adapter-contract/contract-route.ts'
export type { AdapterFactory, AdapterServer } from './adapter-contract/stage.ts'

/**
 * What every adapter must do, asked over real sockets. Time stands still unless a test moves it, so nothing here waits for an expiry.
 * A rejection that nobody handles must fail the running test: Jest, Vitest and `node:test` see to that.
 *
 * @param name the framework, for the titles.
 * @param factory starts a server of that framework with the adapter and these routes.
 * @param runner the test runner. Default: the global `describe` and `test`.
 */
export function describeAdapterContract(
  name: string,
  factory: AdapterFactory,
  runner: ContractRunner = globalRunner(),
): void {
  const contract = { factory, describe: runner.describe, test: runner.test }
  const parts = [
    describeCollapse,
    describeStale,
    describeFailingLeaders,
    describeEligible,
    describeStorable,
    describeServing,
    describeKeys,
    describeCacheStatus,
    describeDeclaring,
  ]
  runner.describe(`the adapter contract on ${name}`, () => {
    for (const part of parts) part(contract)
  })
}

function globalRunner(): ContractRunner {
  const { describe, test } = globalThis as unknown as Partial<ContractRunner>
  if (describe === undefined || test === undefined)
    throw new TypeError('No global describe and test: hand them in as the third argument.')
  return { describe, test }
}
