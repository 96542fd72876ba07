import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { systemRuntime } from '@cattlegrid/core/extend'
import { expressCache, isRefresh, type RouteOptions } from '@cattlegrid/express'
import { afterEach, expect, test } from '@jest/globals'
import express from 'express'
import { warningsDuring } from '../../packages/testkit/src/adapter-contract/warnings.ts'

interface Process {
  readonly cache: Cache
  readonly server: Server
}

const environment = process.env['NODE_ENV']
const processes: Process[] = []

afterEach(async () => {
  process.env['NODE_ENV'] = environment
  for (const { cache, server } of processes.splice(0)) {
    server.close()
    server.closeAllConnections()
    await cache.close()
  }
})

/** A shop in one of several processes; its page names its client, and its list does not. */
async function open(
  defaults: RouteOptions,
  store = memoryStore(),
  runtime = systemRuntime,
  outer: (req: IncomingMessage) => Promise<void> = async () => undefined,
): Promise<Process> {
  const cache = createCache({ store, runtime })
  const cached = expressCache(cache, { ttl: '1h', cacheStatus: true, ...defaults })
  const app = express()
  app.use(async (req, _res, next) => {
    await outer(req)
    next()
  })
  app.use((req, res, next) => {
    res.locals['who'] = /who=(\w+)/.exec(req.headers.cookie ?? '')?.[1] ?? 'nobody'
    next()
  })
  app.get('/page', cached(), (_req, res) => void res.send(`for ${res.locals['who']}`))
  app.get('/list', cached({ ttl: '1h' }), (_req, res) => void res.send('a list'))
  const server = createServer(app as RequestListener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  processes.push({ cache, server })
  return { cache, server }
}

async function ask({ server }: Process, path: string, who?: string): Promise<readonly [text: string, said: string]> {
  const { port } = server.address() as AddressInfo
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: who === undefined ? {} : { cookie: `who=${who}` },
  })
  return [await response.text(), String(response.headers.get('cache-status'))]
}

test('the process whose audit finds a difference purges the route in all processes, and no other route', async () => {
  const store = memoryStore()
  const key = { host: false } as const
  const one = await open({ key, audit: { rate: 0 } }, store)
  const other = await open({ key, audit: { rate: 1 } }, store)
  await ask(one, '/list')
  // Another URL of the route that stops: the purge finds all of them.
  await ask(one, '/page?of=another')
  expect((await ask(one, '/page?of=another', 'bob'))[1]).toMatch(/; hit; /)
  await warningsDuring('CATTLEGRID_AUDIT', async () => {
    expect(await ask(other, '/page', 'ann')).toEqual(['for ann', 'cattlegrid; fwd=uri-miss'])
    for (let turn = 0; turn < 1000 && (await ask(other, '/page'))[1] !== 'cattlegrid; fwd=bypass; detail=audit';)
      turn += 1
  })
  expect(await ask(one, '/page?of=another', 'bob')).toEqual(['for bob', expect.stringMatching(/; fwd=uri-miss\b/)])
  expect((await ask(one, '/list'))[1]).toMatch(/; hit; /)
})

test('in development, audit: false switches the audit off', async () => {
  process.env['NODE_ENV'] = 'development'
  const shop = await open({ audit: false })
  const warnings = await warningsDuring('CATTLEGRID_AUDIT', async () => {
    for (const who of ['ann', 'bob']) expect((await ask(shop, '/page', who))[0]).toBe('for ann')
  })
  expect(warnings).toEqual([])
})

test('in development, a route in observe mode is told of once', async () => {
  process.env['NODE_ENV'] = 'development'
  const shop = await open({ mode: 'observe' })
  const warnings = await warningsDuring('CATTLEGRID_AUDIT_NOT_RUN', async () => {
    for (let turn = 0; turn < 2; turn += 1) await ask(shop, '/page')
  })
  expect(warnings).toHaveLength(1)
})

test('a refresh that comes to a route which has stopped meanwhile is no rejected refresh', async () => {
  let chosen = false
  const runtime = { ...systemRuntime, random: () => (chosen ? 0 : 1) }
  let pass = (): void => undefined
  const gate = new Promise<void>((resolve) => (pass = resolve))
  const refresh = { ttl: '20ms', staleWhileRevalidate: '1h', jitter: 0 } as const
  const shop = await open({ audit: { rate: 0.5 }, ...refresh }, memoryStore(), runtime, async (req) => {
    if (isRefresh(req) && req.url === '/page') await gate
  })
  const rejected = await warningsDuring('CATTLEGRID_REFRESH_REJECTED', async () => {
    await ask(shop, '/page')
    await setTimeout(50)
    expect((await ask(shop, '/page'))[1]).toMatch(/detail=stale-while-revalidate$/)
    chosen = true
    await ask(shop, '/page?of=another', 'ann')
    for (let turn = 0; turn < 1000 && !(await ask(shop, '/page?of=another'))[1].endsWith('detail=audit');) turn += 1
    pass()
    await setTimeout(50)
  })
  expect(rejected).toEqual([])
})
