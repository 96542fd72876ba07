import { expect, test } from '@jest/globals'
import { onSite, until } from './support/site.ts'

test('a refresh with credentials stores no response that does not allow it, for other clients with credentials', async () => {
  let runs = 0
  await onSite(
    (app, cached) => {
      app.use(cached({ refreshHeaders: ['authorization'] }))
      app.get('/a', (_req, res) => {
        runs += 1
        const shared = runs === 1 ? 'public, ' : ''
        res.set('cache-control', `${shared}max-age=1, stale-while-revalidate=60`).send(`run ${runs}`)
      })
    },
    async ({ get, runtime, seen }) => {
      const ask = async (user: string): Promise<string> => (await get('/a').set('authorization', user)).text
      expect(await ask('first')).toBe('run 1')
      await runtime.advance(2000)
      expect(await ask('first')).toBe('run 1')
      await seen('outcome', 2)
      await until(() => runs === 2)
      expect(await ask('second')).toBe('run 1')
    },
  )
})

test('a refresh carries the credentials in the key exactly as the client sent them', async () => {
  let runs = 0
  await onSite(
    (app, cached) => {
      const options = { ttl: '1m', staleWhileRevalidate: '1h', authorization: 'key' } as const
      app.get('/a', cached(options), (_req, res) => void res.send(`run ${(runs += 1)}`))
    },
    async ({ get, runtime, seen }) => {
      const ask = async (): Promise<string> =>
        (await get('/a').set('authorization', 'Digest username="ann",realm="shop"')).text
      expect(await ask()).toBe('run 1')
      await runtime.advance(60_001)
      expect(await ask()).toBe('run 1')
      await seen('commit', 2)
      expect(await ask()).toBe('run 2')
    },
  )
})
