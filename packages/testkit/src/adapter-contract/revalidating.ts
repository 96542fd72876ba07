import { strict as assert } from 'node:assert'
import { counted, nothing, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage, type Stage } from './stage.ts'

const cache = { ttl: 'origin', revalidate: true, cacheStatus: true, softTimeout: false } as const
const fresh = (etag: string) => ({ 'cache-control': 'max-age=10', etag })

/** Refreshes that send the validators of the expired response to the handler. */
export function describeRevalidating({ factory, describe, test }: Contract): void {
  /** Answers 304 if the request carries its entity-tag, in every run but the first. */
  const origin = (more = {}) =>
    counted((run, { headers }) =>
      headers['if-none-match'] === '"v1"'
        ? nothing(304, { ...fresh('"v1"'), 'x-run': String(run), ...more })
        : text('first', { ...fresh('"v1"'), 'x-run': String(run), 'x-once': 'yes', ...more }),
    )
  const expired = async (stage: Stage): Promise<void> => {
    await stage.ask('/old')
    await stage.seen('commit', 1)
    await stage.runtime.advance(11_000)
  }

  describe('an expired response that is revalidated', () => {
    test(
      'is fresh again after a 304, with the fields of that 304, for the leader and its followers',
      async () => {
        const handler = origin()
        await onStage(factory, [{ path: '/old', cache, handle: handler.handle }], async (stage) => {
          await expired(stage)
          for (const { status, text: body, headers } of await stage.crowd(10, '/old')) {
            assert.deepEqual([status, body, headers['x-run'], headers['x-once']], [200, 'first', '2', 'yes'])
            assert.equal(headers['content-length'], '5')
          }
          await stage.runtime.advance(5000)
          assert.match(String((await stage.ask('/old')).headers['cache-status']), /^cattlegrid; hit/)
          assert.equal(handler.runs, 2)
          await stage.runtime.advance(6000)
          const leader = await stage.ask('/old')
          assert.equal(leader.headers['cache-status'], 'cattlegrid; fwd=stale; fwd-status=304; stored; ttl=10')
          assert.equal(leader.headers['age'], '0')
        })
      },
      'time',
    )

    test(
      'is sent as the client’s own condition asks, not as the handler’s 304',
      async () => {
        const handler = origin()
        await onStage(factory, [{ path: '/old', cache, handle: handler.handle }], async (stage) => {
          await expired(stage)
          assert.equal((await stage.ask('/old', { headers: { 'if-none-match': '"v1"' } })).status, 304)
          await stage.runtime.advance(11_000)
          const other = await stage.ask('/old', { headers: { 'if-none-match': '"v0"' } })
          assert.deepEqual([other.status, other.text], [200, 'first'])
        })
      },
      'time',
    )

    test(
      'is replaced by a new one',
      async () => {
        const handler = counted((run) => text(`run ${run}`, fresh(`"v${run}"`)))
        await onStage(factory, [{ path: '/old', cache, handle: handler.handle }], async (stage) => {
          await expired(stage)
          assert.equal((await stage.ask('/old')).text, 'run 2')
          assert.equal((await stage.ask('/old')).text, 'run 2')
        })
      },
      'time',
    )

    test(
      'is not served without a stale window: neither on a failure nor to followers',
      async () => {
        const gate = createGate()
        const handler = counted(async (run) => {
          if (run > 1) await gate.opened
          return run === 1 ? text('first', fresh('"v1"')) : text('broken', {}, 503)
        })
        await onStage(factory, [{ path: '/old', cache, handle: handler.handle }], async (stage) => {
          await expired(stage)
          const crowd = stage.crowd(5, '/old')
          await stage.seen('join', 4)
          gate.open()
          for (const { status, text: body } of await crowd) {
            assert.equal(status, 503)
            assert.notEqual(body, 'first')
          }
        })
      },
      'time',
    )

    test(
      'that may no longer be stored reaches only its own client',
      async () => {
        const handler = counted((run, { headers }) =>
          headers['if-none-match'] === undefined
            ? text(`run ${run}`, fresh('"v1"'))
            : nothing(304, { 'cache-control': 'private', etag: '"v1"' }),
        )
        await onStage(factory, [{ path: '/old', cache, handle: handler.handle }], async (stage) => {
          await expired(stage)
          const { status, text: body } = await stage.ask('/old')
          assert.deepEqual([status, body], [200, 'run 1'])
          assert.equal((await stage.ask('/old')).text, 'run 3')
        })
      },
      'time',
    )

    for (const [what, vary] of [
      ['one response for all', {}],
      ['a response that varies', { vary: 'accept-language' }],
    ] as const)
      test(
        `is replaced by ${what} where the 304 is about another response`,
        async () => {
          const handler = counted((run, { headers }) =>
            headers['if-none-match'] === undefined
              ? text(`run ${run} ${headers['accept-language'] ?? ''}`, {
                  ...fresh(`"v${run}"`),
                  ...(run > 1 ? vary : {}),
                })
              : nothing(304, { etag: '"of another"' }),
          )
          await onStage(factory, [{ path: '/old', cache, handle: handler.handle }], async (stage) => {
            await expired(stage)
            const german = { headers: { 'accept-language': 'de' } }
            const asked = [await stage.ask('/old', german), await stage.ask('/old', german)]
            const language = 'vary' in vary ? 'de' : ''
            for (const { status, text: body } of asked) {
              assert.equal(status, 200)
              assert.match(body, new RegExp(`^run [34] ${language}$`))
            }
            assert.equal(asked[0]?.headers['cache-status'], 'cattlegrid; fwd=stale; fwd-status=200; stored; ttl=10')
            assert.match(String(asked[1]?.headers['cache-status']), /^cattlegrid; hit/)
          })
        },
        'time',
      )

    test(
      'is refreshed in the background by a conditional request, too',
      async () => {
        const handler = origin({ 'cache-control': 'max-age=10, stale-while-revalidate=60' })
        await onStage(factory, [{ path: '/old', cache, handle: handler.handle }], async (stage) => {
          await expired(stage)
          assert.equal((await stage.ask('/old')).headers['x-run'], '1')
          await stage.seen('commit', 2)
          const hit = await stage.ask('/old')
          assert.deepEqual([hit.text, hit.headers['x-run']], ['first', '2'])
        })
      },
      'time',
    )
  })
}
