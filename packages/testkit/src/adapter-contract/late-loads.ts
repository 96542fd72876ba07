import { strict as assert } from 'node:assert'
import type { CacheOptions } from '@cattlegrid/core'
import type { RouteOptions } from '@cattlegrid/http'
import { type CountedHandler, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, type Gate, onStage } from './stage.ts'

/** Where the one place is that a load queues for. */
const QUEUES: readonly (readonly [string, CacheOptions, RouteOptions])[] = [
  ['the cache', { maxLoads: 1 }, {}],
  ['the route', {}, { maxLoads: 1 }],
]

/** A handler whose runs for `/page/slow` wait at the gate. */
function slowFor(gate: Gate): CountedHandler {
  return counted(async (run, { url }) => {
    if (url === '/page/slow') await gate.opened
    return text(`run ${run}`)
  })
}

/**
 * A load may wait longer than the request that asked for it. That request's own handler then has no response
 * to write to.
 */
export function describeLateLoads({ factory, describe, test }: Contract): void {
  describe('a load that begins after its request was answered', () => {
    for (const [where, limits, options] of QUEUES)
      test(
        `by a stale response, because it waited for a place of ${where}, refreshes the entry by a subrequest`,
        async () => {
          const gate = createGate()
          const { handle } = slowFor(gate)
          const cache = { ttl: '10s', staleIfError: '1h', ...options } as const
          await onStage(
            factory,
            [{ path: '/page/:id', cache, handle }],
            async (stage) => {
              await stage.ask('/page/1')
              await stage.runtime.advance(11_000)
              const slow = stage.ask('/page/slow')
              await stage.seen('load', 2)
              const asked = stage.ask('/page/1')
              await stage.seen('miss', 3)
              // softTimeout
              await stage.runtime.advance(1000)
              assert.equal((await asked).text, 'run 1')
              gate.open()
              assert.equal((await slow).text, 'run 2')
              await stage.seen('commit', 3)
              assert.equal((await stage.ask('/page/1')).text, 'run 3')
            },
            limits,
          )
        },
        'time',
      )

    for (const [refresh, what] of [
      ['behind', 'by a 503 brings a request that joined its response by a subrequest'],
      ['inline', 'by a 503 does not run where the route is refreshed inline: a request that joined leads'],
    ] as const)
      test(
        what,
        async () => {
          const gate = createGate()
          const { handle } = slowFor(gate)
          const cache = { ttl: '10s', waitTimeout: '10s', refresh } as const
          await onStage(
            factory,
            [{ path: '/page/:id', cache, handle }],
            async (stage) => {
              const slow = stage.ask('/page/slow')
              await stage.seen('load', 1)
              const first = stage.ask('/page/1')
              await stage.seen('miss', 2)
              await stage.runtime.advance(5000)
              const second = stage.ask('/page/1')
              await stage.seen('join', 1)
              await stage.runtime.advance(5000)
              assert.equal((await first).status, 503)
              gate.open()
              assert.deepEqual([(await slow).text, (await second).text], ['run 1', 'run 2'])
              // Where the request that joined leads, its load is one more.
              await stage.seen('load', refresh === 'inline' ? 3 : 2)
            },
            { maxLoads: 1 },
          )
        },
        'time',
      )

    for (const [where, limits, options] of QUEUES)
      test(
        `gives a 503 to a request that waits in vain for a permit of ${where}, and its key does not cool down`,
        async () => {
          const gate = createGate()
          const { handle } = slowFor(gate)
          const cache = { ttl: '10s', waitTimeout: '1s', loadTimeout: '5s', ...options } as const
          await onStage(
            factory,
            [{ path: '/page/:id', cache, handle }],
            async (stage) => {
              const slow = stage.ask('/page/slow')
              await stage.seen('load', 1)
              const waiting = stage.ask('/page/1')
              await stage.seen('miss', 2)
              await stage.runtime.advance(1100)
              const { status, headers } = await waiting
              assert.equal(status, 503)
              assert.equal(headers['retry-after'], '1')
              gate.open()
              assert.equal((await slow).status, 200)
              assert.equal((await stage.ask('/page/1')).status, 200)
            },
            limits,
          )
        },
        'time',
      )
  })
}
