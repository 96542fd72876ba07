import { strict as assert } from 'node:assert'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage } from './stage.ts'

/**
 * A handler decides by `ResponseDirectives` and by response fields whether and how long its response
 * is stored.
 */
export function describeResponseDirectives({ factory, describe, test }: Contract): void {
  describe('the directives of a handler for its response', () => {
    test('noStore() keeps the response from all other clients', async () => {
      const gate = createGate()
      const origin = counted(async (run, { directives }) => {
        await gate.opened
        directives.noStore()
        return text(`run ${run}`)
      })
      await onStage(factory, [{ path: '/directives', cache: { ttl: '10s' }, handle: origin.handle }], async (stage) => {
        const crowd = stage.crowd(5, '/directives')
        await stage.seen('join', 4)
        gate.open()
        const bodies = (await crowd).map(({ text: body }) => body)
        assert.equal(new Set(bodies).size, 5)
        assert.equal((await stage.ask('/directives')).text, 'run 6')
      })
    })

    test(
      'keep() sets the lifetime, also in app mode, and the tags',
      async () => {
        const origin = counted((run, { directives }) => {
          directives.keep({ ttl: '1m', tags: ['own'] })
          return text(`run ${run}`)
        })
        const routes = [{ path: '/route', cache: { ttl: '10s', tags: ['route'] } }, { path: '/app' }] as const
        await onStage(
          factory,
          routes.map((route) => ({ ...route, handle: origin.handle })),
          async (stage) => {
            assert.equal((await stage.ask('/route')).text, 'run 1')
            assert.equal((await stage.ask('/app')).text, 'run 2')
            await stage.runtime.advance(59_000)
            assert.equal((await stage.ask('/route')).text, 'run 1')
            assert.equal((await stage.ask('/app')).text, 'run 2')
            await stage.cache.invalidateTags(['route'])
            assert.equal((await stage.ask('/route')).text, 'run 3')
            assert.equal((await stage.ask('/app')).text, 'run 2')
            await stage.cache.invalidateTags(['own'])
            assert.equal((await stage.ask('/app')).text, 'run 4')
          },
        )
      },
      'time',
    )

    test(
      'a failure with noStore() reaches its client whole, although a stale response is stored',
      async () => {
        const origin = counted((run, { directives }) => {
          if (run === 1) return text('run 1')
          directives.noStore()
          return text(`run ${run}`, {}, 500)
        })
        const cache = { ttl: '10s', staleWhileRevalidate: 0, staleIfError: '5m' } as const
        await onStage(factory, [{ path: '/failure', cache, handle: origin.handle }], async (stage) => {
          assert.equal((await stage.ask('/failure')).text, 'run 1')
          await stage.runtime.advance(11_000)
          const failed = await stage.ask('/failure')
          assert.deepEqual([failed.status, failed.text], [500, 'run 2'])
        })
      },
      'time',
    )

    test('keep() cannot overrule a prohibition, and rejects unknown options', async () => {
      const origin = counted((run, { directives }) => {
        directives.keep({ ttl: '1m' })
        assert.throws(() => directives.keep({ ttl: -1 }), { code: 'CATTLEGRID_INVALID_OPTION' })
        return text(`run ${run}`, { 'cache-control': 'private' })
      })
      await onStage(factory, [{ path: '/directives', cache: { ttl: '10s' }, handle: origin.handle }], async (stage) => {
        for (const run of [1, 2]) assert.equal((await stage.ask('/directives')).text, `run ${run}`)
      })
    })

    test(
      'a targeted field takes precedence over Cache-Control, for this cache only',
      async () => {
        const fields = { 'cache-control': 'no-store, max-age=1', 'cdn-cache-control': 'max-age=60' }
        for (const [targets, second] of [
          [['My-Cache-Control', 'CDN-Cache-Control'], 'run 1'],
          [[], 'run 2'],
        ] as const) {
          const origin = counted((run) => text(`run ${run}`, fields))
          const route = { path: '/target', cache: { ttl: 'origin', targets }, handle: origin.handle } as const
          await onStage(factory, [route], async (stage) => {
            await stage.ask('/target')
            await stage.runtime.advance(50_000)
            const { text: body, headers } = await stage.ask('/target')
            assert.equal(body, second)
            assert.equal(headers['cache-control'], 'no-store, max-age=1')
          })
        }
      },
      'time',
    )

    test('fields that are not to be stored are not repeated', async () => {
      const origin = counted(() => text('one', { traceparent: '00-1-1-01', 'x-kept': '1' }))
      const route = { path: '/strip', cache: { ttl: '10s', strip: ['Traceparent'] }, handle: origin.handle } as const
      await onStage(factory, [route], async (stage) => {
        assert.equal((await stage.ask('/strip')).headers['traceparent'], '00-1-1-01')
        const hit = await stage.ask('/strip')
        assert.deepEqual([hit.headers['traceparent'], hit.headers['x-kept']], [undefined, '1'])
      })
    })

    test(
      'a hit has no Age with downstream: reset',
      async () => {
        const origin = counted(() => text('one'))
        const route = { path: '/reset', cache: { ttl: '1h', downstream: 'reset' }, handle: origin.handle } as const
        await onStage(factory, [route], async (stage) => {
          await stage.ask('/reset')
          await stage.runtime.advance(60_000)
          assert.equal((await stage.ask('/reset')).headers['age'], undefined)
          assert.equal(origin.runs, 1)
        })
      },
      'time',
    )

    test('a ttl of Infinity, of the route or of the response, also of one that varies, lasts; its max-age is finite', async () => {
      const cache = { ttl: Infinity, clientMaxAge: '100000d', cacheStatus: true } as const
      const kinds = { '/plain': {}, '/varying': { vary: 'x-kind' } }
      const origins = Object.entries(kinds).map(([path, fields]) => ({
        path,
        origin: counted(() => text('one', fields)),
      }))
      const routes = origins.flatMap(({ path, origin: { handle } }) => [
        { path, cache, handle },
        { path: `/by-function${path}`, cache: { ...cache, ttl: () => Infinity }, handle },
      ])
      await onStage(factory, routes, async (stage) => {
        const ask = () => Promise.all(routes.map(({ path }) => stage.ask(path)))
        await ask()
        await stage.runtime.advance(400 * 86_400_000)
        for (const { headers } of await ask()) assert.equal(headers['cache-control'], 'max-age=2147483647')
        assert.deepEqual(
          origins.map(({ origin }) => origin.runs),
          [2, 2],
        )
      })
    })

    test('clients get a max-age only if the route asks for it and the response has none', async () => {
      const origin = counted((_, { url }) => text('one', url === '/own' ? { 'cache-control': 'max-age=5' } : {}))
      const cache = { ttl: '1h', clientMaxAge: '1m' } as const
      const routes = ['/none', '/own'].map((path) => ({ path, cache, handle: origin.handle }))
      await onStage(
        factory,
        [...routes, { path: '/silent', cache: { ttl: '1h' }, handle: origin.handle }],
        async (stage) => {
          for (const [path, said] of [
            ['/none', 'max-age=60'],
            ['/own', 'max-age=5'],
            ['/silent', undefined],
          ] as const)
            for (let turn = 0; turn < 2; turn += 1)
              assert.equal((await stage.ask(path)).headers['cache-control'], said, path)
          assert.equal(origin.runs, 3)
        },
      )
    })
  })
}
