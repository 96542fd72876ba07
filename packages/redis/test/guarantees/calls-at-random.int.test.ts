import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import * as fc from 'fast-check'
import { optionsOf, play, type Stage } from '../../../../test/calls/play.ts'
import { type Scenario, scenarios } from '../../../../test/calls/scenario.ts'
import { type Client, connect } from '../../../../test/support/redis-under-test.ts'

/** A call that does not end hangs; no machine is that slow, ms. */
const HANGING = 30_000
/** Scenarios that are played at once, each in a namespace of its own. */
const AT_ONCE = 8

let clients: readonly Client[]
let namespaces = 0
beforeAll(async () => {
  clients = await Promise.all([connect(), connect(), connect()])
})
afterAll(() => Promise.all(clients.map((client) => client.close())))

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const settle: Stage['settle'] = async (isDone) => {
  const began = performance.now()
  while (!(await isDone()) && performance.now() - began < HANGING) await pause(5)
}

/** Three processes, as far as Redis can tell. */
async function playOnRedis(scenario: Scenario): Promise<readonly string[]> {
  namespaces += 1
  const namespace = `random-${process.pid}-${namespaces}`
  const stores = clients.map((client) => redisStore({ client, namespace }))
  const [first, second, third] = stores.map((store) => createCache({ store, ...optionsOf(scenario) }))
  if (first === undefined || second === undefined || third === undefined) throw new Error('three clients')
  const caches: Stage['caches'] = [first, second, third]
  try {
    await Promise.all(caches.map((cache) => cache.ready()))
    return await play(scenario, { caches, stores, pause, settle })
  } finally {
    await first.clear()
    await Promise.all(caches.map((cache) => cache.close({ drain: 0 })))
  }
}

describe('calls of every verb on Redis, alone and inside of loads', () => {
  test('all end, leave nothing behind, fail only where they may, and get nothing that an acknowledged write had replaced', async () => {
    const groups = fc.array(scenarios, { minLength: AT_ONCE, maxLength: AT_ONCE })
    await fc.assert(
      fc.asyncProperty(groups, async (group) => {
        expect((await Promise.all(group.map(playOnRedis))).flat()).toEqual([])
      }),
      { numRuns: Number(process.env['CATTLEGRID_RUNS'] ?? 10), endOnFailure: true },
    )
  }, 300_000)
})
