import { strict as assert } from 'node:assert'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

const cache = { ttl: '10s', cacheStatus: true, invalidateOnUnsafe: true } as const

/** `cache.pause()` switches caching off in an emergency. */
export function describePausing({ factory, describe, test }: Contract): void {
  describe('a paused cache', () => {
    test('lets every request run its own handler, and reports that, until it is resumed', async () => {
      const origin = counted((run) => text(`run ${run}`))
      await onStage(factory, [{ path: '/paused', cache, handle: origin.handle }], async (stage) => {
        await stage.ask('/paused')
        await stage.seen('commit', 1)
        stage.cache.pause()
        for (const run of [2, 3]) {
          const received = await stage.ask('/paused')
          assert.equal(received.text, `run ${run}`)
          assert.equal(received.headers['cache-status'], 'cattlegrid; fwd=bypass; detail=paused')
        }
        stage.cache.resume()
        const hit = await stage.ask('/paused')
        assert.equal(hit.text, 'run 1')
        assert.match(String(hit.headers['cache-status']), /; hit; /)
      })
    })

    test('still invalidates the URL of a successful POST, and the entries of a purged tag', async () => {
      const origin = counted((run) => text(`run ${run}`))
      const posted = counted(() => text('done'))
      const routes = [
        { path: '/changed', cache, handle: origin.handle },
        { path: '/tagged', cache: { ...cache, tags: ['all'] }, handle: origin.handle },
        { method: 'POST', path: '/changed', cache, handle: posted.handle },
      ] as const
      await onStage(factory, routes, async (stage) => {
        await stage.ask('/changed')
        await stage.ask('/tagged')
        await stage.seen('commit', 2)
        stage.cache.pause()
        const changed = await stage.ask('/changed', { method: 'POST' })
        assert.equal(changed.headers['cache-status'], 'cattlegrid; fwd=method')
        await stage.cache.invalidateTags(['all'])
        stage.cache.resume()
        assert.equal((await stage.ask('/changed')).text, 'run 3')
        assert.equal((await stage.ask('/tagged')).text, 'run 4')
      })
    })
  })
}
