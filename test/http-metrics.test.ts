import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import express from 'express'
import { Registry } from 'prom-client'

it('the requests of cached routes are counted by route, verdict and reason, and never by their URL', async () => {
  const cache = createCache({ name: 'pages' })
  const register = new Registry()
  const stop = prometheusMetrics(cache, { register })
  prometheusMetrics(createCache({ name: 'others' }), { register })
  const cached = expressCache(cache)
  const app = express()
  app.get('/products/:id', cached({ ttl: '1h' }), (req, res) => void res.send(req.params.id))
  app.get('/audited', cached({ ttl: '1h', audit: { rate: 1 } }), (_req, res) => void res.send('the same'))
  app.get('/basket', cached({ ttl: '1h' }), (req, res) => void res.send(String(req.headers.cookie)))
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const ask = async (path: string, headers: Record<string, string> = {}): Promise<void> => {
    await (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text()
  }
  await ask('/products/secret?token=secret')
  await ask('/products/secret?token=secret')
  await ask('/products/secret', { authorization: 'Basic c2VjcmV0' })
  await ask('/basket', { cookie: 'a=1' })
  await ask('/audited')
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
  const text = await register.metrics()
  const lines = text.split('\n').filter((line) => line.startsWith('cattlegrid_http_requests_total'))
  expect(lines.toSorted()).toEqual([
    'cattlegrid_http_requests_total{cache="pages",route="/audited",verdict="miss",reason="uri-miss"} 1',
    'cattlegrid_http_requests_total{cache="pages",route="/basket",verdict="miss",reason="personal"} 1',
    'cattlegrid_http_requests_total{cache="pages",route="/products/:id",verdict="bypass",reason="authorization"} 1',
    'cattlegrid_http_requests_total{cache="pages",route="/products/:id",verdict="hit",reason=""} 1',
    'cattlegrid_http_requests_total{cache="pages",route="/products/:id",verdict="miss",reason="uri-miss"} 1',
  ])
  expect(text).toContain('cattlegrid_audits_total{cache="pages",route="/audited",result="equal"} 1')
  expect(text).toContain('cattlegrid_personal_reads_total{cache="pages"} 1')
  expect(text).toContain('cattlegrid_http_request_seconds_count{cache="pages",route="/products/:id",verdict="hit"} 1')
  expect(text).not.toContain('secret')
  stop()
})
