import { describe, test } from '@jest/globals'
import type { AdapterFactory, ContractRunner } from '@cattlegrid/testkit'
import express4 from 'express4'
import { startExpress } from '../../packages/express/test/contract-app.ts'
import { startFastify } from '../../packages/fastify/test/contract-app.ts'
import { describeOwnRequests } from '../../packages/testkit/src/adapter-contract/own-requests.ts'
import { describeOuterHead } from '../../packages/testkit/src/adapter-contract/outer-head.ts'

/** Parts that join the adapter contract once none of their tests is in `test/open-tests.txt` any more. */
const PARTS = [describeOwnRequests, describeOuterHead]

const FRAMEWORKS: readonly (readonly [string, AdapterFactory])[] = [
  ['Express', (cache, routes) => startExpress(cache, routes)],
  ['Express 4', (cache, routes) => startExpress(cache, routes, express4)],
  ['Fastify', startFastify],
]

const runner: ContractRunner = { describe, test }

describe.each(FRAMEWORKS)('the coming part of the adapter contract on %s', (_name, start) => {
  for (const part of PARTS)
    part({ factory: { start, openStore: undefined }, describe, test: (title, play) => runner.test(title, play) })
})
