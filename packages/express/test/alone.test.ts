import { describe, expect, test } from '@jest/globals'
import { onSite } from './support/site.ts'

describe('a handler that runs alone because its URL gave nothing to keep', () => {
  test('leaves what another one has stored meanwhile where it is', async () => {
    let runs = 0
    let letGo: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      letGo = resolve
    })
    await onSite(
      (app, cached) =>
        void app.get('/a', cached({ ttl: '1m', cacheStatus: true }), async (_req, res) => {
          runs += 1
          const run = runs
          if (run === 1) res.setHeader('cache-control', 'private')
          if (run === 2) await held
          res.end(`run ${run}`)
        }),
      async ({ port, cache }) => {
        const ask = async (): Promise<string> => (await fetch(`http://127.0.0.1:${port}/a`)).text()
        expect(await ask()).toBe('run 1')
        const loading = new Promise<void>((resolve) => void cache.on('load', () => resolve()))
        const alone = ask()
        await loading
        // As another process ends the mark, and leads.
        await cache.clear()
        const committed = new Promise<void>((resolve) => void cache.on('commit', () => resolve()))
        expect(await ask()).toBe('run 3')
        await committed
        letGo()
        expect(await alone).toBe('run 2')
        expect(await ask()).toBe('run 3')
      },
    )
  })
})
