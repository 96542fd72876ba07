import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import { redisStore } from '@cattlegrid/redis'
import express from 'express'
import { cattlegrid, rowsOf } from '../packages/cli/test/support/cli.ts'

let cache: Cache
let server: Server
let url: string
let runs: number
let namespace: string

beforeEach(async () => {
  namespace = `test:${randomUUID()}`
  cache = createCache({ store: redisStore({ url: process.env['CATTLEGRID_TEST_REDIS_URL'], namespace }) })
  await cache.ready()
  const app = express()
  app.set('etag', false)
  app.use(expressCache(cache)())
  runs = 0
  app.get('/products/:id', (req, res) => {
    runs += 1
    res.set({ 'cache-control': 'public, max-age=600, stale-while-revalidate=600', vary: 'accept-language' })
    res.json({ id: req.params.id, size: req.query['size'], runs })
  })
  server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  server.close()
  server.closeAllConnections()
  await cache.clear()
  await cache.close()
})

async function get(path: string, language: string): Promise<void> {
  const response = await fetch(url + path, { headers: { 'accept-language': language } })
  await response.arrayBuffer()
}

test('the command line finds the responses that an app has stored for a URL, and purges them', async () => {
  const options = ['--namespace', namespace, '--timeout', '20s']
  const page = ['--page', `${url}/products/7?size=2&colour=red`, ...options]
  for (const language of ['de', 'en']) await get('/products/7?colour=red&size=2', language)
  await get('/products/8', 'de')
  expect(runs).toBe(3)

  const { code, out } = await cattlegrid(['inspect', ...page])
  expect(code).toBe(0)
  const [head, ...entries] = out.split('\n\n').map(rowsOf)
  expect(head?.['found']).toBe('3 entries with the tag of this URL, of 5 entries in the namespace')
  expect(entries.filter((entry) => entry['varies by'] === 'accept-language (1 field)')).toHaveLength(1)
  const responses = entries.filter(({ status }) => status === '200')
  expect(responses).toHaveLength(2)
  for (const { fields, body, state } of responses) {
    expect(state).toBe('fresh')
    expect(fields).toContain('content-type: application/json')
    expect(body).toContain('{\\"id\\":\\"7\\",\\"size\\":\\"2\\"')
  }

  expect((await cattlegrid(['delete', ...page])).code).toBe(0)
  for (const language of ['de', 'en']) await get('/products/7?size=2&colour=red', language)
  await get('/products/8', 'de')
  expect(runs).toBe(5)
})
