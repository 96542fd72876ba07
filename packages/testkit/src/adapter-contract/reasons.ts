import { strict as assert } from 'node:assert'
import {
  type ContractAnswer,
  type ContractMiddlewareResult,
  type ContractRequest,
  counted,
  json,
  text,
} from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'
import { eventsDuring } from './warnings.ts'

const cacheStatus = true

/** A person can see why a response is not stored. */
export function describeReasons({ factory, describe, test }: Contract): void {
  describe('the reason why nothing is stored', () => {
    test('is given by Cache-Status for a response that can be stored while its key is uncacheable', async () => {
      const { handle } = counted((run) => text(`run ${run}`, run === 1 ? { 'set-cookie': 'a=1' } : {}))
      await onStage(factory, [{ path: '/a', cache: { ttl: '1m', cacheStatus }, handle }], async (stage) => {
        await stage.ask('/a')
        const { headers } = await stage.ask('/a')
        assert.match(String(headers['cache-status']), /^cattlegrid; fwd=uri-miss; detail=[a-z-]+$/)
      })
    })

    test(
      'is given by Cache-Status for an answer that the handler writes past the framework',
      async () => {
        const { handle } = counted(() => ({
          send: 'raw',
          write: (response) => {
            response.setHeader('set-cookie', 'a=1')
            response.end('own')
          },
        }))
        await onStage(factory, [{ path: '/a', cache: { ttl: '1m', cacheStatus }, handle }], async (stage) => {
          const { headers } = await stage.ask('/a')
          assert.match(String(headers['cache-status']), /; fwd=uri-miss; detail=(set-cookie|hijacked)$/)
        })
      },
      'node',
    )

    for (const [what, why, answer] of REASONS)
      test(`is in the event outcome (${what}: ${why})`, async () => {
        const { handle } = counted(answer)
        await onStage(factory, [{ path: '/a', cache: undefined, handle }], async (stage) => {
          const reasons: unknown[] = []
          stage.cache.on('outcome', ({ outcome }) => reasons.push(Reflect.get(outcome, 'why')))
          await stage.ask('/a')
          await stage.seen('outcome', 1)
          assert.deepEqual(reasons, [why])
        })
      })

    test('is in the text of a 503 while a key cools down', async () => {
      const { handle } = counted(() => json({ broken: true }, {}, 500))
      await onStage(factory, [{ path: '/a', cache: { ttl: '1m' }, handle }], async (stage) => {
        assert.equal((await stage.ask('/a')).status, 500)
        await stage.seen('outcome', 1)
        const next = await stage.ask('/a')
        assert.equal(next.status, 503)
        assert.match(next.text, /cooling down after the handler answered 500/)
      })
    })

    test(
      'and the status of the response are in the event refresh-rejected',
      async () => {
        const { handle } = counted((run) => (run === 1 ? text('one') : json({ login: true }, {}, 401)))
        const cache = { ttl: '10s', staleWhileRevalidate: '10m' } as const
        await onStage(factory, [{ path: '/a', cache, handle }], async (stage) => {
          const events = await eventsDuring('cattlegrid:refresh-rejected', async () => {
            await stage.ask('/a')
            await stage.runtime.advance(11_000)
            assert.equal((await stage.ask('/a')).text, 'one')
            await stage.seen('outcome', 2)
          })
          const told = events.map(
            (event) => [Reflect.get(event, 'status'), Reflect.get(event, 'why')] as readonly unknown[],
          )
          assert.deepEqual(told, [[401, 'status']])
        })
      },
      'time',
    )

    test(
      'is in the event refresh-rejected where a login before the cache has answered, and no request refreshes again at once',
      async () => {
        const { handle } = counted((run) => text(`run ${run}`))
        const cache = { ttl: '10s', staleWhileRevalidate: '10m' } as const
        let logins = 0
        const before = ({ headers }: ContractRequest): ContractMiddlewareResult => {
          const refuse = headers['x-user'] === undefined
          if (refuse) logins += 1
          return { refuse }
        }
        await onStage(factory, [{ path: '/a', cache, before, handle }], async (stage) => {
          const client = { headers: { 'x-user': 'ada' } }
          const events = await eventsDuring('cattlegrid:refresh-rejected', async () => {
            await stage.ask('/a', client)
            await stage.runtime.advance(11_000)
            for (let asked = 0; asked < 3; asked += 1) {
              assert.equal((await stage.ask('/a', client)).text, 'run 1')
              await stage.seen('outcome', 2)
            }
          })
          assert.deepEqual(events, [{ target: '/a', status: 401, why: 'unreached' }])
          assert.equal(logins, 1)
        })
      },
      'time',
    )
  })
}

const REASONS: readonly (readonly [string, string, () => ContractAnswer])[] = [
  ['a response without a lifetime', 'no-freshness', () => text('one')],
  ['a cookie', 'set-cookie', () => text('one', { 'set-cookie': 'a=1', 'cache-control': 'max-age=60' })],
  ['private', 'private', () => text('one', { 'cache-control': 'private, max-age=60' })],
]
