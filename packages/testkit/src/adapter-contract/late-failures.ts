import { strict as assert } from 'node:assert'
import { AsyncResource } from 'node:async_hooks'
import { Agent, type ServerResponse } from 'node:http'
import type { Received } from './client.ts'
import { type ContractAnswer, type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage, type Stage } from './stage.ts'

/** A context that is no request's, such as that of a pool of connections. */
const pool = new AsyncResource('pool')

/** How a handler, or an error handler after it, gives up a response that has ended. */
const FAILURES: readonly (readonly [string, (response: ServerResponse) => void])[] = [
  [
    'throws',
    () => {
      throw new Error('too late')
    },
  ],
  ['destroys the response', (response) => void response.destroy()],
  ['destroys the socket of the request', ({ req }) => void req.socket.destroy()],
  ['destroys the socket of the response', ({ socket }) => void socket?.destroy()],
  [
    'destroys the socket of the request in the callback of a driver that keeps no context',
    ({ req }) => void pool.runInAsyncScope(() => req.socket.destroy()),
  ],
]

/**
 * A handler that fails after its end, or after the cache has answered in its place, takes no response from
 * a client.
 */
export function describeLateFailures({ factory, describe, test }: Contract): void {
  describe('a handler that fails after its end', () => {
    for (const [what, fail] of FAILURES) {
      test(`and ${what}: a POST that invalidates keeps its response`, async () => {
        const write = (response: ServerResponse): void => {
          response.statusCode = 201
          response.end('done')
          fail(response)
        }
        const handle: ContractRoute['handle'] = async () => ({ send: 'raw', write })
        await onStage(factory, [{ method: 'POST', path: '/a', handle }], async (stage) => {
          delayInvalidations(stage)
          const { status, text: body } = await stage.ask('/a', { method: 'POST' })
          assert.deepEqual([status, body], [201, 'done'])
        })
      })
    }
  })

  describe('a handler that fails after the cache has answered in its place', () => {
    for (const [what, fail] of [
      ...FAILURES,
      ['destroys the request', ({ req }: ServerResponse) => void req.destroy()] as const,
    ])
      for (const replaced of ['504', 'stale'] as const)
        test(
          `by ${replaced === '504' ? 'a 504' : 'a stale response'}, and ${what}: the next request on the connection gets its response`,
          async () => {
            const late = createGate()
            const slow = counted(async (run) => {
              if (run === 1 && replaced === 'stale') return text('one')
              await late.opened
              return { send: 'raw', write: fail } satisfies ContractAnswer
            })
            const other = counted(async () => {
              late.open()
              for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate)
              return text('other')
            })
            const cache = { ttl: '10s', loadTimeout: '3s', staleIfError: '10m', softTimeout: false } as const
            const routes = [
              { path: '/slow', cache, handle: slow.handle },
              { path: '/other', handle: other.handle },
            ]
            await onStage(factory, routes, async (stage) => {
              const agent = new Agent({ keepAlive: true, maxSockets: 1 })
              const ask = (path: string): Promise<Received> => stage.ask(path, { agent })
              if (replaced === 'stale') await ask('/slow')
              await stage.runtime.advance(11_000)
              const answered = ask('/slow')
              await stage.seen('load', slow.runs + 1)
              await stage.runtime.advance(3001)
              assert.equal((await answered).status, replaced === 'stale' ? 200 : 504)
              assert.equal((await ask('/other')).text, 'other')
              agent.destroy()
            })
          },
          'time',
        )
  })
}

/** The end of a POST waits for some turns of the event loop, as it does for a store that is a server. */
function delayInvalidations({ cache }: Stage): void {
  const invalidate = cache.invalidateTags.bind(cache)
  cache.invalidateTags = async (tags) => {
    for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate)
    return await invalidate(tags)
  }
}
