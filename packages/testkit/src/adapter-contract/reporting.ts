import { strict as assert } from 'node:assert'
import type { Received } from './client.ts'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const timingOf = ({ headers }: Received): unknown => headers['server-timing']
const keyOf = ({ headers }: Received): string | undefined => /; key="(.+)"$/.exec(String(headers['cache-status']))?.[1]

/**
 * What a route reports of its requests beside `Cache-Status`: where the time went, and under which key the
 * response is stored.
 */
export function describeReporting({ factory, describe, test }: Contract): void {
  describe('a route that reports', () => {
    test(
      'Server-Timing has the wait and the load of each request, behind the metrics of its own handler and of outer layers only',
      async () => {
        let gate = createGate()
        const origin = counted(async () => {
          await gate.opened
          return text('one', { 'server-timing': 'db;dur=5' })
        })
        const windows = { ttl: '10s', staleWhileRevalidate: '1m', staleIfError: '1h', softTimeout: false } as const
        const cache = { ...windows, loadTimeout: '5m', maxLoads: 1, serverTiming: true } as const
        const before = () => ({ headers: { 'server-timing': 'outer' } })
        const route = { path: '/timing/:id', cache, before, handle: origin.handle }
        await onStage(factory, [route], async (stage) => {
          const leader = stage.ask('/timing/1')
          await stage.seen('load', 1)
          const follower = stage.ask('/timing/1')
          await stage.seen('join', 1)
          const queued = stage.ask('/timing/2')
          await stage.seen('miss', 3)
          await stage.runtime.advance(1500)
          gate.open()
          assert.equal(timingOf(await leader), 'db;dur=5, cache;desc=miss, load;dur=1500')
          assert.equal(timingOf(await follower), 'outer, cache;desc=collapsed, wait;dur=1500')
          assert.equal(timingOf(await queued), 'db;dur=5, cache;desc=miss, wait;dur=1500, load;dur=0')
          await stage.seen('commit', 2)
          assert.equal(timingOf(await stage.ask('/timing/1')), 'outer, cache;desc=hit')
          const authorized = await stage.ask('/timing/1', { headers: { authorization: 'x' } })
          assert.equal(timingOf(authorized), 'db;dur=5, cache;desc=bypass')
          gate = createGate()
          await stage.runtime.advance(11_000)
          assert.equal(timingOf(await stage.ask('/timing/1')), 'outer, cache;desc=stale')
          await stage.seen('load', 3)
          // Past the stale window, a request waits for the refresh.
          await stage.runtime.advance(60_000)
          const collapsed = stage.ask('/timing/1')
          await stage.seen('join', 2)
          gate.open()
          assert.equal(timingOf(await collapsed), 'outer, cache;desc=collapsed')
        })
      },
      'time',
    )

    test('repeats no Server-Timing of a handler, whether the route adds metrics or not', async () => {
      const origin = counted(() => text('one', { 'server-timing': 'db;dur=5' }))
      await onStage(factory, [{ path: '/plain', cache: { ttl: '10s' }, handle: origin.handle }], async (stage) => {
        assert.equal(timingOf(await stage.ask('/plain')), 'db;dur=5')
        assert.equal(timingOf(await stage.ask('/plain')), undefined)
      })
    })

    test('the key in Cache-Status is that of the stored response, of each variant, and holds no credentials', async () => {
      const origin = counted((run) => text(`run ${run}`, { vary: 'x-kind' }))
      const plain = counted((run) => text(`run ${run}`))
      const cache = { ttl: '1h', authorization: 'key', cacheStatus: true, cacheStatusKey: true } as const
      const routes = [
        { path: '/varying', cache, handle: origin.handle },
        { path: '/plain', cache, handle: plain.handle },
      ]
      await onStage(factory, routes, async (stage) => {
        const ask = (path: string, kind = 'a') =>
          stage.ask(path, { headers: { authorization: 'Bearer secret', 'x-kind': kind } })
        const [missed, hit] = [keyOf(await ask('/plain')), String(keyOf(await ask('/plain')))]
        assert.match(hit, /^http:[\w-]{43}$/)
        assert.equal(missed, hit)
        await stage.cache.delete(hit)
        assert.equal((await ask('/plain')).text, 'run 2')
        for (const kind of ['a', 'b']) await ask('/varying', kind)
        const variants = [keyOf(await ask('/varying', 'a')), keyOf(await ask('/varying', 'b'))]
        await stage.cache.delete(String(variants[0]))
        assert.deepEqual([(await ask('/varying', 'b')).text, (await ask('/varying', 'a')).text], ['run 2', 'run 3'])
      })
    })
  })
}
