import { get } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { onSite, until } from './support/site.ts'

describe('in observe mode, a handler that gives up once its client has left', () => {
  test('is no run that a later request would have followed', async () => {
    let running = false
    let left = false
    await onSite(
      (app, cached) => {
        app.get('/a', cached({ ttl: '1m', mode: 'observe', cacheStatus: true }), (req, res) => {
          if (req.headers['x-leaves'] === undefined) return void res.end('one')
          running = true
          return void res.once('close', () => (left = true))
        })
      },
      async (site) => {
        const headers = { 'x-leaves': 'yes' }
        const leaving = get({ host: '127.0.0.1', port: site.port, path: '/a', headers }).once('error', () => undefined)
        await until(() => running)
        leaving.destroy()
        await until(() => left)
        expect((await site.get('/a')).headers['cache-status']).toBe('cattlegrid; fwd=bypass; detail=would-store')
      },
    )
  })
})
