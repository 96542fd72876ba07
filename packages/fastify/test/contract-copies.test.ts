import type { Cache } from '@cattlegrid/core'
import { describeAdapterContract } from '@cattlegrid/testkit'
import { jest } from '@jest/globals'
import type { FastifyInstance } from 'fastify'
import cattlegrid from '../src/index.ts'
import { startFastify } from './support/contract-app.ts'

/** Of so many apps one loads a copy of its own: that takes a tenth of a second, and the others have the same copy. */
const APPS_PER_COPY = 25
let latest = cattlegrid
let apps = 0

async function loadCopy(): Promise<typeof cattlegrid> {
  apps += 1
  if (apps % APPS_PER_COPY !== 1) return latest
  await jest.isolateModulesAsync(async () => {
    latest = (await import('../src/index.ts')).default
  })
  return latest
}

interface Encapsulated {
  readonly app: FastifyInstance
}

/** Registers a copy in an encapsulated plugin, whose app declares routes later. Not the app itself: it has a `then` while it loads. */
async function encapsulate(app: FastifyInstance, copy: typeof cattlegrid, cache: Cache): Promise<Encapsulated> {
  let inner = app
  await app.register(async (child) => {
    inner = child
    await child.register(copy, { cache, close: false })
  })
  return { app: inner }
}

describeAdapterContract(
  'Fastify, with routes by turns in two plugins, each with a copy of the package, one of which is loaded when the app has hooks,',
  (cache, routes) =>
    startFastify(cache, routes, async (app) => {
      app.addHook('onSend', async (_request, _reply, payload) => payload)
      const copies = [cattlegrid, await loadCopy()]
      const instances: FastifyInstance[] = []
      for (const copy of copies) instances.push((await encapsulate(app, copy, cache)).app)
      return instances
    }),
)
