import { describe, test } from '@jest/globals'
import type { AdapterFactory, ContractRunner } from '@cattlegrid/testkit'
import express4 from 'express4'
import { startExpress } from '../../packages/express/test/support/contract-app.ts'
import { startFastify } from '../../packages/fastify/test/support/contract-app.ts'
import { describeOwnRequests } from '../../packages/testkit/src/adapter-contract/own-requests.ts'

const FRAMEWORKS: readonly (readonly [string, AdapterFactory])[] = [
  ['Express', (cache, routes) => startExpress(cache, routes)],
  ['Express 4', (cache, routes) => startExpress(cache, routes, express4)],
  ['Fastify', startFastify],
]

const runner: ContractRunner = { describe, test }

// No part of the adapter contract: it needs a framework that tells the address of a client.
describe.each(FRAMEWORKS)('beside the adapter contract on %s', (_name, start) => {
  describeOwnRequests({
    factory: { start, openStore: undefined },
    describe,
    test: (title, play) => runner.test(title, play),
  })
})
