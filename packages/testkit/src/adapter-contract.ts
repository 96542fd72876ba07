import { describeAudits } from './adapter-contract/audits.ts'
import { describeCacheStatus } from './adapter-contract/cache-status.ts'
import { describeCollapse } from './adapter-contract/collapse.ts'
import { describeCaptures } from './adapter-contract/captures.ts'
import { describeConditions } from './adapter-contract/conditions.ts'
import type { Contract, Need } from './adapter-contract/contract.ts'
import { describeDeclaring } from './adapter-contract/declaring.ts'
import { describeErrorLifetimes } from './adapter-contract/error-lifetimes.ts'
import { describeEligible } from './adapter-contract/eligible.ts'
import { describeCredentials } from './adapter-contract/credentials.ts'
import { describeFailingLeaders } from './adapter-contract/failing-leaders.ts'
import { describeFraming } from './adapter-contract/framing.ts'
import { describeFunctionsAnswerNow } from './adapter-contract/functions-answer-now.ts'
import { describeInvalidation } from './adapter-contract/invalidation.ts'
import { describeLateAnswers } from './adapter-contract/late-answers.ts'
import { describeLateFailures } from './adapter-contract/late-failures.ts'
import { describeLateLoads } from './adapter-contract/late-loads.ts'
import { describeKeys } from './adapter-contract/keys.ts'
import { describeOuterBodies } from './adapter-contract/outer-bodies.ts'
import { describeOuterDestroy } from './adapter-contract/outer-destroy.ts'
import { describeOuterHead } from './adapter-contract/outer-head.ts'
import { describeOuterVary } from './adapter-contract/outer-vary.ts'
import { describeHosts } from './adapter-contract/ports-and-hosts.ts'
import { describeRanges } from './adapter-contract/ranges.ts'
import { describeLeaving } from './adapter-contract/leaving.ts'
import { describeLoops } from './adapter-contract/loops.ts'
import { describeObserving } from './adapter-contract/observing.ts'
import { describePausing } from './adapter-contract/pausing.ts'
import { describeServing } from './adapter-contract/serving.ts'
import { describeRevalidating } from './adapter-contract/revalidating.ts'
import { describeSafeMethods } from './adapter-contract/safe-methods.ts'
import type { AdapterFactory, ContractStore } from './adapter-contract/stage.ts'
import { describeStale } from './adapter-contract/stale.ts'
import { describeStorable } from './adapter-contract/storable.ts'
import { describeTrailers } from './adapter-contract/trailers.ts'
import { describeUnstoredUrls } from './adapter-contract/unstored-urls.ts'
import { describePersonalFields } from './adapter-contract/personal-fields.ts'
import { describeKeepDecides } from './adapter-contract/keep-decides.ts'
import { describeAfterEnd } from './adapter-contract/after-end.ts'
import { describeReasons } from './adapter-contract/reasons.ts'
import { describeUrls } from './adapter-contract/urls.ts'
import { describeVariants } from './adapter-contract/variants.ts'
import { describeReporting } from './adapter-contract/reporting.ts'
import { describeResponseDirectives } from './adapter-contract/response-directives.ts'
import { describeWrongArguments } from './adapter-contract/wrong-arguments.ts'
import { type ContractRunner, globalRunner } from './contract-runner.ts'

export type { ContractRunner } from './contract-runner.ts'
export type {
  ContractAnswer,
  ContractMiddlewareResult,
  ContractHeaders,
  ContractRequest,
  ContractRoute,
} from './adapter-contract/contract-route.ts'
export { sendStream } from './adapter-contract/send-stream.ts'
export type { AdapterFactory, AdapterServer, ContractStore } from './adapter-contract/stage.ts'

/**
 * Declares the tests that every adapter must pass, over real sockets. The tests move the clock themselves, so
 * none waits for an expiry. An unhandled rejection must fail the running test, as it does in Jest, Vitest and
 * `node:test`.
 *
 * @param name the name of the framework, for the test titles.
 * @param factory starts a server of that framework with the adapter and these routes.
 * @param runner the test runner. Default: the global `describe` and `test`.
 * @param openStore opens a store for each test, such as one on Redis; tests that move the clock are then left
 * out. Default: a memory store.
 * @param over `fetch`: handlers return a `Response`; tests of what they do with the response of Node are
 * left out. Default: `node`.
 *
 * @example
 * import { type AdapterFactory, describeAdapterContract } from '@cattlegrid/testkit'
 *
 * export const contract = (factory: AdapterFactory): void => describeAdapterContract('my framework', factory)
 */
export function describeAdapterContract(
  name: string,
  factory: AdapterFactory,
  runner: ContractRunner = globalRunner(),
  openStore?: () => Promise<ContractStore>,
  over: 'node' | 'fetch' = 'node',
): void {
  const offered: Readonly<Record<Need, boolean>> = { time: openStore === undefined, node: over === 'node' }
  const contract: Contract = {
    factory: { start: factory, openStore },
    describe: runner.describe,
    test: (title, play, ...needs) => {
      if (needs.every((need) => offered[need])) runner.test(title, play)
    },
  }
  const parts = [
    describeCollapse,
    describeStale,
    describeFailingLeaders,
    describeEligible,
    describeStorable,
    describeErrorLifetimes,
    describeCaptures,
    describeObserving,
    describePausing,
    describeServing,
    describeLoops,
    describeConditions,
    describeKeys,
    describeCacheStatus,
    describeDeclaring,
    describeVariants,
    describeUrls,
    describeCredentials,
    describeResponseDirectives,
    describeInvalidation,
    describeSafeMethods,
    describeRanges,
    describeRevalidating,
    describeFunctionsAnswerNow,
    describeHosts,
    describeOuterVary,
    describeUnstoredUrls,
    describePersonalFields,
    describeAudits,
    describeKeepDecides,
    describeAfterEnd,
    describeLateLoads,
    describeReasons,
    describeReporting,
  ]
  const ofNode = [
    describeLeaving,
    describeTrailers,
    describeWrongArguments,
    describeOuterHead,
    describeOuterDestroy,
    describeFraming,
    describeOuterBodies,
    describeLateAnswers,
    describeLateFailures,
  ]
  runner.describe(`the adapter contract on ${name}`, () => {
    for (const part of [...parts, ...(offered.node ? ofNode : [])]) part(contract)
  })
}
