import { type Agent as HttpAgent, Agent, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Cache, createCache } from '@cattlegrid/core'
import { systemRuntime } from '@cattlegrid/core/extend'
import { afterEach, describe, expect, test } from '@jest/globals'
import { eventsDuring, warningsDuring } from '@cattlegrid/testkit'
import { type LeakingApp, leaks, personalLayers } from './leaks.ts'

const route = { ttl: '1h', cacheStatus: true } as const
const CLIENTS = [
  ['ann', '127.0.0.1'],
  ['bob', '127.0.0.2'],
] as const

interface Answer {
  readonly text: string
  readonly cacheStatus: string
}

let server: Server
let cache: Cache
let agents: readonly HttpAgent[]
const environment = process.env['NODE_ENV']

afterEach(async () => {
  process.env['NODE_ENV'] = environment
  for (const agent of agents) agent.destroy()
  server.close()
  server.closeAllConnections()
  await cache.close()
})

async function open(app: LeakingApp, options: object, random?: () => number): Promise<void> {
  cache = createCache(random === undefined ? {} : { runtime: { ...systemRuntime, random } })
  server = await app(cache, { ...route, ...options })
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve))
  agents = CLIENTS.map(([, localAddress]) => new Agent({ keepAlive: true, maxSockets: 1, localAddress }))
}

/** One of the clients asks, by name and from its own address. */
function ask(client: number): Promise<Answer> {
  const { port } = server.address() as AddressInfo
  const [name] = CLIENTS[client] ?? ['nobody']
  const headers = { cookie: `who=${name}` }
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path: '/page', headers, agent: agents[client] }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => void chunks.push(chunk))
      response.on('end', () =>
        resolve({ text: String(Buffer.concat(chunks)), cacheStatus: String(response.headers['cache-status']) }),
      )
    })
    asked.on('error', reject).end()
  })
}

/** The same sequence at each run. */
function seeded(): () => number {
  let state = 12_345
  return () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

describe.each(Object.entries(leaks))('a page that names its client by %s', (_, app) => {
  test('leaks without an audit', async () => {
    await open(app, {})
    const [own, other] = [await ask(0), await ask(1)]
    expect([own.text === other.text, other.cacheStatus.includes('; hit;')]).toEqual([true, true])
  })

  test('is caught at its first load in development', async () => {
    process.env['NODE_ENV'] = 'development'
    const warnings = await warningsDuring('CATTLEGRID_AUDIT', async () => {
      await open(app, {})
      await ask(0)
      expect((await ask(1)).cacheStatus).toBe('cattlegrid; fwd=bypass; detail=audit')
    })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]?.message).not.toMatch(/ann|bob|127/)
  })

  test('is caught within 5,000 requests at a rate of 0.001', async () => {
    await open(app, { audit: { rate: 0.001 } }, seeded())
    let asked = 0
    const warnings = await warningsDuring('CATTLEGRID_AUDIT', async () => {
      while (asked < 5000 && !(await ask(asked % 2)).cacheStatus.endsWith('detail=audit')) asked += 1
    })
    expect(asked).toBeLessThan(5000)
    expect(warnings).toHaveLength(1)
  })
})

test.each(Object.entries(personalLayers))('what %s writes for each client is no difference', async (_, app) => {
  process.env['NODE_ENV'] = 'development'
  const events = await eventsDuring('cattlegrid:audit', async () => {
    await open(app, { audit: { rate: 1 } })
    expect([(await ask(0)).text, (await ask(1)).text]).toMatchObject(
      [/^ann: /, /^bob: /].map((name) => expect.stringMatching(name)),
    )
  })
  expect(events).toMatchObject([{ result: 'equal' }, { result: 'equal' }])
})
