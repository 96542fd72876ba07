import { expect, test } from '@jest/globals'
import supertest from 'supertest'
import { onSite } from './support/site.ts'

test('an app purges by tag and by URL where it says who may', async () => {
  let runs = 0
  await onSite(
    (app, cached) => {
      app.post('/purge', cached.purge({ authorize: (req) => req.headers['x-purger'] === 'yes' }))
      app.post('/off', cached.purge())
      app.get('/tag', cached({ ttl: '1h', tags: ['a'] }), (_req, res) => void res.send(`run ${++runs}`))
      app.get(
        '/url',
        cached({ ttl: 'origin' }),
        (_req, res) => void res.set('Cache-Control', 'max-age=60').send(`run ${++runs}`),
      )
    },
    async (site) => {
      const purge = (path: string) => supertest(site.server).post(path)
      expect((await site.get('/tag')).text).toBe('run 1')
      expect((await site.get('/url')).text).toBe('run 2')
      expect((await purge('/off?tag=a')).status).toBe(404)
      expect((await purge('/purge?tag=a')).status).toBe(403)
      expect((await site.get('/tag')).text).toBe('run 1')
      const url = encodeURIComponent(`http://127.0.0.1:${site.port}/url`)
      expect((await purge(`/purge?tag=a&url=${url}`).set('x-purger', 'yes')).status).toBe(204)
      expect((await site.get('/tag')).text).toBe('run 3')
      expect((await site.get('/url')).text).toBe('run 4')
    },
  )
})

test('a response that is purged softly is served stale while its one refresh runs', async () => {
  let runs = 0
  await onSite(
    (app, cached) => {
      app.post('/purge', cached.purge({ authorize: () => true }))
      app.get(
        '/tag',
        cached({ ttl: '1h', staleWhileRevalidate: '1h', tags: ['a'], cacheStatus: true }),
        (_req, res) => {
          res.send(`run ${++runs}`)
        },
      )
    },
    async (site) => {
      expect((await site.get('/tag')).text).toBe('run 1')
      await supertest(site.server).post('/purge?tag=a&soft')
      const stale = await site.get('/tag')
      expect([stale.text, stale.headers['cache-status']]).toEqual(['run 1', expect.stringMatching(/hit; ttl=(0|-\d+)/)])
      while ((await site.get('/tag')).text === 'run 1') expect(runs).toBeLessThan(3)
      expect(runs).toBe(2)
    },
  )
})

test('every variant of a response that is purged softly is served stale, and then refreshed', async () => {
  let edition = 1
  const runs: string[] = []
  await onSite(
    (app, cached) => {
      app.post('/purge', cached.purge({ authorize: () => true }))
      app.get('/vary', cached({ ttl: '1h', staleWhileRevalidate: '1h', tags: ['a'] }), (req, res) => {
        runs.push(String(req.headers['accept-language']))
        res.vary('Accept-Language').send(`${req.headers['accept-language']} ${edition}`)
      })
    },
    async (site) => {
      const languages = ['de', 'en', 'fr']
      const ask = async (language: string) => (await site.get('/vary').set('Accept-Language', language)).text
      for (const language of languages) expect(await ask(language)).toBe(`${language} 1`)
      await supertest(site.server).post('/purge?tag=a&soft')
      edition = 2
      for (const language of languages) expect(await ask(language)).toBe(`${language} 1`)
      for (const language of languages)
        while ((await ask(language)) !== `${language} 2`) expect(runs.length).toBeLessThan(9)
      // One more than there are variants: the record of variants is refreshed, too.
      expect(runs.length).toBeLessThanOrEqual(7)
    },
  )
})

test('a first variant whose load began before a soft purge is refreshed after it', async () => {
  let edition = 1
  let began = (): void => undefined
  let end = (): void => undefined
  const running = new Promise<void>((resolve) => (began = resolve))
  const held = new Promise<void>((resolve) => (end = resolve))
  await onSite(
    (app, cached) => {
      app.post('/purge', cached.purge({ authorize: () => true }))
      app.get('/vary', cached({ ttl: '1h', staleWhileRevalidate: '1h', tags: ['a'] }), async (_req, res) => {
        const text = `edition ${edition}`
        began()
        await held
        res.vary('Accept-Language').send(text)
      })
    },
    async (site) => {
      const first = site.get('/vary').then(({ text }) => text)
      await running
      edition = 2
      await supertest(site.server).post('/purge?tag=a&soft')
      end()
      expect(await first).toBe('edition 1')
      let asked = 0
      while ((await site.get('/vary')).text !== 'edition 2') expect((asked += 1)).toBeLessThan(100)
    },
  )
})
