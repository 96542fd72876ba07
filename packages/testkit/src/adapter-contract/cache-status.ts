import { strict as assert } from 'node:assert'
import { type ContractRequest, counted, nothing, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const cache = { ttl: '60s', staleWhileRevalidate: '5m', cacheStatus: true } as const

/**
 * Waiters share an unstored response only if their headers match its variant. Of a stored response, each
 * variant gets its own leader.
 */
const VARYING: readonly (readonly [number, RegExp, RegExp])[] = [
  [400, /; fwd=uri-miss; detail=status$/, /; fwd=uri-miss; collapsed=\?0$/],
  [200, /; fwd=uri-miss(; stored; ttl=60)?$/, /; fwd=vary-miss; collapsed=\?0(; stored; ttl=60)?$/],
]

/** The contents of `Cache-Status` (RFC 9211), for routes that send it. */
export function describeCacheStatus({ factory, describe, test }: Contract): void {
  describe('Cache-Status', () => {
    test('is not sent unless the route asks for it', async () => {
      const origin = counted(() => text('one'))
      await onStage(factory, [{ path: '/off', cache: { ttl: '60s' }, handle: origin.handle }], async (stage) => {
        for (let turn = 0; turn < 2; turn += 1)
          assert.equal((await stage.ask('/off')).headers['cache-status'], undefined)
      })
    })

    test(
      'says of a follower why there was no stored response: none, an expired one, or other variants only',
      async () => {
        let gate = createGate()
        const origin = counted(async () => {
          await gate.opened
          return text('one', { vary: 'Accept-Language' })
        })
        const expiring = { ttl: '10s', staleIfError: '1h', softTimeout: false, cacheStatus: true } as const
        await onStage(factory, [{ path: '/why', cache: expiring, handle: origin.handle }], async (stage) => {
          let loads = 0
          let joins = 0
          const statusOfFollower = async (language: string): Promise<unknown> => {
            gate = createGate()
            const headers = { 'accept-language': language }
            const leader = stage.ask('/why', { headers })
            await stage.seen('load', (loads += 1))
            const follower = stage.ask('/why', { headers })
            await stage.seen('join', (joins += 1))
            gate.open()
            await leader
            return (await follower).headers['cache-status']
          }
          assert.equal(await statusOfFollower('de'), 'cattlegrid; fwd=uri-miss; collapsed; ttl=10')
          // The first variant had a load of its own.
          loads += 1
          assert.equal(await statusOfFollower('en'), 'cattlegrid; fwd=vary-miss; collapsed; ttl=10')
          await stage.runtime.advance(11_000)
          assert.equal(await statusOfFollower('en'), 'cattlegrid; fwd=stale; collapsed; ttl=10')
        })
      },
      'time',
    )

    test('says of HEAD, whose entry a subrequest fills, that the response was stored', async () => {
      const origin = counted(() => text('one'))
      await onStage(factory, [{ path: '/head', cache, handle: origin.handle }], async (stage) => {
        const { headers } = await stage.ask('/head', { method: 'HEAD' })
        assert.equal(headers['cache-status'], 'cattlegrid; fwd=uri-miss; stored; ttl=60')
      })
    })

    test(
      'distinguishes a leader’s miss, a fresh hit, a stale hit and a follower',
      async () => {
        const gate = createGate()
        const origin = counted(async () => {
          await gate.opened
          return text('one')
        })
        await onStage(factory, [{ path: '/on', cache, handle: origin.handle }], async (stage) => {
          const leader = stage.ask('/on')
          await stage.seen('load', 1)
          const follower = stage.ask('/on')
          await stage.seen('join', 1)
          gate.open()
          assert.match(String((await leader).headers['cache-status']), /^cattlegrid; fwd=uri-miss(; stored; ttl=60)?$/)
          assert.equal((await follower).headers['cache-status'], 'cattlegrid; fwd=uri-miss; collapsed; ttl=60')
          await stage.seen('commit', 1)
          await stage.runtime.advance(18_000)
          assert.equal((await stage.ask('/on')).headers['cache-status'], 'cattlegrid; hit; ttl=42')
          const etag = String((await stage.ask('/on')).headers['etag'])
          const same = await stage.ask('/on', { headers: { 'if-none-match': etag } })
          assert.equal(same.status, 304)
          assert.equal(same.headers['cache-status'], 'cattlegrid; hit; ttl=42')
          await stage.runtime.advance(45_000)
          const stale = await stage.ask('/on')
          assert.equal(stale.headers['cache-status'], 'cattlegrid; hit; ttl=-3; detail=stale-while-revalidate')
        })
      },
      'time',
    )

    test(
      'names the lifetime of the response where a 304 begins to vary, not that of the record of variants',
      async () => {
        const origin = counted((run) =>
          run === 1 ? text('one', { etag: '"1"' }) : nothing(304, { etag: '"1"', vary: 'x-v' }),
        )
        const route = { path: '/varies', cache: { ...cache, revalidate: true }, handle: origin.handle }
        await onStage(factory, [route], async (stage) => {
          await stage.ask('/varies')
          await stage.runtime.advance(400_000)
          const { status, headers } = await stage.ask('/varies')
          assert.deepEqual(
            [status, headers['cache-status']],
            [200, 'cattlegrid; fwd=stale; fwd-status=304; stored; ttl=60'],
          )
        })
      },
      'time',
    )

    test('names a key that cannot be made: key.extra throws, or returns no string', async () => {
      const extras: readonly (() => unknown)[] = [() => undefined, () => 5, () => throwNow()]
      for (const extra of extras) {
        const { handle } = counted((run) => text(`run ${run}`))
        const key = { extra: extra as () => string }
        await onStage(factory, [{ path: '/why', cache: { ...cache, key }, handle }], async (stage) => {
          await stage.ask('/why')
          const { text: body, headers } = await stage.ask('/why')
          assert.deepEqual([body, headers['cache-status']], ['run 2', 'cattlegrid; fwd=bypass; detail=key-failed'])
        })
      }
    })

    test('gives the reason why a request bypassed the cache, or why a response was not stored', async () => {
      const origin = counted((_, { headers }) =>
        text('one', headers['x-user'] === undefined ? {} : { 'set-cookie': 'a=1' }),
      )
      const routes = (['GET', 'POST'] as const).map((method) => ({
        method,
        path: '/why',
        cache,
        handle: origin.handle,
      }))
      await onStage(factory, routes, async (stage) => {
        const authorized = await stage.ask('/why', { headers: { authorization: 'x' } })
        assert.equal(authorized.headers['cache-status'], 'cattlegrid; fwd=bypass; detail=authorization')
        assert.equal((await stage.ask('/why', { method: 'POST' })).headers['cache-status'], 'cattlegrid; fwd=method')
        const cookie = await stage.ask('/why', { headers: { 'x-user': 'ada' } })
        assert.equal(cookie.headers['cache-status'], 'cattlegrid; fwd=uri-miss; detail=set-cookie')
      })
    })

    test('names what keeps the response of a request’s own handler from others', async () => {
      const origin = counted(() => text('own'))
      const before = ({ headers }: ContractRequest) => ({
        headers: headers['x-cookie'] === undefined ? {} : { 'set-cookie': 'a=1' },
      })
      await onStage(factory, [{ path: '/own', cache, before, handle: origin.handle }], async (stage) => {
        for (const [why, request] of [
          ['body', { headers: { 'content-length': '1' }, body: 'x' }],
          ['method-override', { headers: { 'x-http-method-override': 'POST' } }],
          ['set-cookie', { headers: { 'x-cookie': '1' } }],
        ] as const) {
          const { headers } = await stage.ask('/own', request)
          assert.equal(headers['cache-status'], `cattlegrid; fwd=bypass; detail=${why}`)
        }
      })
    })

    test('has the configured name, and follows the members of caches nearer the origin', async () => {
      const origin = counted(() => text('one', { 'cache-status': 'inner; hit' }))
      const route = { path: '/named', cache: { ttl: '60s', cacheStatus: 'Edge' }, handle: origin.handle } as const
      await onStage(factory, [route], async (stage) => {
        assert.match(String((await stage.ask('/named')).headers['cache-status']), /^inner; hit, Edge; fwd=uri-miss/)
        const hit = String((await stage.ask('/named')).headers['cache-status'])
        assert.match(hit, /^inner; hit, Edge; hit; ttl=\d+$/)
      })
    })

    test('distinguishes followers that waited in vain from their leader', async () => {
      const gate = createGate()
      const origin = counted(async () => {
        await gate.opened
        return text('own', { 'set-cookie': 'a=1' })
      })
      await onStage(factory, [{ path: '/vain', cache, handle: origin.handle }], async (stage) => {
        const crowd = stage.crowd(5, '/vain')
        await stage.seen('join', 4)
        gate.open()
        const told = (await crowd).map(({ headers }) => String(headers['cache-status'])).toSorted()
        const vain = Array.from({ length: 4 }, () => 'cattlegrid; fwd=uri-miss; collapsed=?0')
        assert.deepEqual(told, [...vain, 'cattlegrid; fwd=uri-miss; detail=set-cookie'])
        const later = await stage.ask('/vain')
        assert.equal(later.headers['cache-status'], 'cattlegrid; fwd=uri-miss; detail=set-cookie')
      })
    })

    test('reports no wait for a request that came while every request ran its own handler', async () => {
      const gate = createGate()
      const origin = counted(async (run) => {
        if (run > 1) await gate.opened
        return text('own', { 'set-cookie': 'a=1' })
      })
      const route = { path: '/alone', cache: { ...cache, maxLoads: 1 }, handle: origin.handle }
      await onStage(factory, [route], async (stage) => {
        await stage.ask('/alone')
        const first = stage.ask('/alone')
        await stage.seen('load', 2)
        const second = stage.ask('/alone')
        await stage.seen('miss', 3)
        gate.open()
        for (const { headers } of [await first, await second])
          assert.equal(headers['cache-status'], 'cattlegrid; fwd=uri-miss; detail=set-cookie')
      })
    })

    test('reports a wait in vain for a follower whose leader’s response is another variant', async () => {
      for (const [status, ofLeader, ofFollower] of VARYING) {
        const gate = createGate()
        const origin = counted(async (_, { headers }) => {
          await gate.opened
          return text(String(headers['accept-language']), { vary: 'accept-language' }, status)
        })
        await onStage(factory, [{ path: '/varied', cache, handle: origin.handle }], async (stage) => {
          const leader = stage.ask('/varied', { headers: { 'accept-language': 'en' } })
          await stage.seen('load', 1)
          const follower = stage.ask('/varied', { headers: { 'accept-language': 'de' } })
          await stage.seen('join', 1)
          gate.open()
          assert.match(String((await leader).headers['cache-status']), ofLeader)
          assert.match(String((await follower).headers['cache-status']), ofFollower)
          assert.equal((await follower).text, 'de')
        })
      }
    })
  })
}

function throwNow(): never {
  throw new Error('no tenant')
}
