import { expect, test } from '@jest/globals'
import { onSite } from './support/site.ts'

test('where an outer layer throws at the head of a hit, the handler answers with the status and the fields of outer layers, and with nothing of the hit', async () => {
  let broken = false
  let runs = 0
  await onSite(
    (app, cached) => {
      app.use((_req, res, next) => {
        res.status(202).vary('Origin')
        const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res
        res.writeHead = (...args: unknown[]) => {
          if (broken && res.hasHeader('age')) throw new Error('no stored responses')
          return writeHead(...args)
        }
        next()
      })
      app.get('/a', cached({ ttl: '1m' }), (_req, res) => {
        runs += 1
        if (runs === 1) res.status(203).set('x-run', '1').send('a long stored response')
        else res.end('own')
      })
    },
    async (site) => {
      await site.get('/a')
      expect((await site.get('/a')).headers['age']).toBe('0')
      broken = true
      const { status, text, headers } = await site.get('/a').timeout(2000)
      expect([status, text, headers['vary'], headers['x-run'], headers['etag'], headers['age']]).toEqual([
        202,
        'own',
        'Origin',
        undefined,
        undefined,
        undefined,
      ])
    },
  )
})
