import { strict as assert } from 'node:assert'
import { type ContractRoute, counted, json, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

const fresh = { 'cache-control': 'max-age=60' }

/** Invalidation by unsafe methods and by tags. */
export function describeInvalidation({ factory, describe, test }: Contract): void {
  const reading = (path: string, cache?: ContractRoute['cache']) => {
    const origin = counted((run) => text(`run ${run}`, fresh))
    return { path, cache, handle: origin.handle }
  }
  const writing = (path: string, status: number, headers = {}, cache?: ContractRoute['cache']): ContractRoute => ({
    method: 'POST',
    path,
    cache,
    handle: async () => json({ ok: true }, headers, status),
  })

  describe('requests with an unsafe method', () => {
    for (const status of [200, 201, 204, 303]) {
      test(`a POST that ends with ${status} invalidates the entries of its URL before its client has the response`, async () => {
        const routes = [reading('/a/:id'), writing('/a/:id', status)]
        await onStage(factory, routes, async (stage) => {
          await stage.ask('/a/1?x=1')
          await stage.ask('/a/2?x=1')
          await stage.ask('/a/1?x=1', { method: 'POST' })
          assert.equal((await stage.ask('/a/1?x=1')).text, 'run 3')
          assert.equal((await stage.ask('/a/2?x=1')).text, 'run 2')
        })
      })
    }

    for (const status of [400, 404, 500]) {
      test(`a POST that ends with ${status} invalidates nothing`, async () => {
        await onStage(factory, [reading('/a'), writing('/a', status)], async (stage) => {
          await stage.ask('/a')
          await stage.ask('/a', { method: 'POST' })
          assert.equal((await stage.ask('/a')).text, 'run 1')
        })
      })
    }

    test('a POST also invalidates the URLs that its response names, on the same host only', async () => {
      const headers = { location: '/list?page=1', 'content-location': './item' }
      const routes = [reading('/list'), reading('/things/item'), reading('/far'), writing('/things/new', 201, headers)]
      const far = writing('/other', 201, { location: 'http://elsewhere.example/far' })
      await onStage(factory, [...routes, far], async (stage) => {
        for (const path of ['/list?page=1', '/things/item', '/far']) await stage.ask(path)
        await stage.ask('/things/new', { method: 'POST' })
        await stage.ask('/other', { method: 'POST' })
        assert.equal((await stage.ask('/list?page=1')).text, 'run 2')
        assert.equal((await stage.ask('/things/item')).text, 'run 2')
        assert.equal((await stage.ask('/far')).text, 'run 1')
      })
    })

    test('a POST invalidates all variants of its URL', async () => {
      const origin = counted((run) => text(`run ${run}`, { ...fresh, vary: 'accept-language' }))
      await onStage(factory, [{ path: '/v', handle: origin.handle }, writing('/v', 204)], async (stage) => {
        const speak = (language: string) => stage.ask('/v', { headers: { 'accept-language': language } })
        await speak('de')
        await speak('en')
        await stage.ask('/v', { method: 'POST' })
        assert.deepEqual([(await speak('en')).text, (await speak('de')).text], ['run 3', 'run 4'])
      })
    })

    test('a route with its own ttl invalidates only with invalidateOnUnsafe', async () => {
      const invalidates = { ttl: '1m', invalidateOnUnsafe: true } as const
      const routes = [reading('/invalidated', invalidates), writing('/invalidated', 200, {}, invalidates)]
      const silent = [reading('/silent', { ttl: '1m' }), writing('/silent', 200, {}, { ttl: '1m' })]
      await onStage(factory, [...routes, ...silent], async (stage) => {
        for (const path of ['/invalidated', '/silent']) {
          await stage.ask(path)
          await stage.ask(path, { method: 'POST' })
        }
        assert.equal((await stage.ask('/invalidated')).text, 'run 2')
        assert.equal((await stage.ask('/silent')).text, 'run 1')
      })
    })
  })

  describe('tags', () => {
    test('come from the route, from a function of it, and from a field of the response', async () => {
      const origin = counted((run) => text(`run ${run}`, { 'surrogate-key': 'shelf:1  shelf:2' }))
      const tags = (request: unknown): string[] => [`url:${(request as { url: string }).url}`]
      const routes = [
        { path: '/list', cache: { ttl: '1h', tags: ['lists'] } },
        { path: '/one', cache: { ttl: '1h', tags } },
        { path: '/field', cache: { ttl: '1h', tagHeader: 'Surrogate-Key' } },
      ] as const
      await onStage(
        factory,
        routes.map((route) => ({ ...route, handle: origin.handle })),
        async (stage) => {
          for (const [path, tag] of [
            ['/list', 'lists'],
            ['/one', 'url:/one'],
            ['/field', 'shelf:2'],
          ] as const) {
            const before = (await stage.ask(path)).text
            assert.equal((await stage.ask(path)).text, before)
            await stage.cache.invalidateTags([tag])
            assert.notEqual((await stage.ask(path)).text, before, path)
          }
        },
      )
    })

    test('that are invalid keep the response from being stored', async () => {
      const origin = counted((run) => text(`run ${run}`))
      const tags = (): string[] => ['']
      await onStage(factory, [{ path: '/bad', cache: { ttl: '1h', tags }, handle: origin.handle }], async (stage) => {
        for (const run of [1, 2]) assert.equal((await stage.ask('/bad')).text, `run ${run}`)
      })
    })
  })
}
