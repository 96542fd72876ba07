import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { json, type Store } from '@cattlegrid/core'
import { redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { createClient } from 'redis'
import { type FaultProxy, startFaultProxy } from '../../../../test/support/fault-proxy.ts'
import { until } from '../../../../test/support/until.ts'

let server: RedisServer
let proxy: FaultProxy
const ends: (() => unknown)[] = []

beforeEach(async () => {
  server = await startRedis({ own: true })
  proxy = await startFaultProxy({ target: { port: server.port } })
})
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
  await proxy.close()
  await server.stop()
})

function open(options: Partial<RedisStoreOptions> = {}): { readonly store: Store; readonly kinds: readonly string[] } {
  const store = redisStore({
    url: `redis://127.0.0.1:${proxy.port}`,
    watchdog: '200ms',
    ...options,
  })
  ends.push(() => store.close())
  const kinds: string[] = []
  store.watch(({ kind }) => void kinds.push(kind))
  return { store, kinds }
}

const answers = async (store: Store): Promise<boolean> => (await store.read('k', json)).kind === 'missing'
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe('a connection that the store created', () => {
  test('is replaced when its server vanishes silently', async () => {
    const { store } = open()
    await until(() => answers(store))
    await proxy.inject({ kind: 'half-open' })
    await proxy.heal()
    expect((await store.read('k', json)).kind).toBe('away')
    await until(() => answers(store))
  })

  test('is left as it is when the watchdog is off', async () => {
    const { store } = open({ watchdog: false })
    await until(() => answers(store))
    await proxy.inject({ kind: 'half-open' })
    await proxy.heal()
    const pending = store.read('k', json)
    expect(await Promise.race([pending, pause(1500).then(() => 'nothing')])).toBe('nothing')
    await store.close()
    expect((await pending).kind).toBe('away')
  })

  test('is replaced until a server completes the handshake', async () => {
    const { store, kinds } = open()
    await until(() => answers(store))
    await proxy.inject({ kind: 'black-hole' })
    const { store: late, kinds: lateKinds } = open()
    const pending = store.read('k', json)
    await until(() => proxy.traffic.connections > 6)
    expect((await pending).kind).toBe('away')
    expect(await answers(late)).toBe(false)
    await proxy.heal()
    await until(() => answers(store))
    await until(() => answers(late))
    await until(() => kinds.at(-1) === 'connected' && lateKinds.at(-1) === 'connected')
    const { connections } = proxy.traffic
    await pause(1000)
    expect(proxy.traffic.connections).toBe(connections)
  })

  test('is replaced when no server ever completed the handshake', async () => {
    await proxy.inject({ kind: 'half-open' })
    const { store, kinds } = open()
    await until(() => proxy.traffic.connections >= 2)
    await proxy.heal()
    await until(() => answers(store))
    await until(() => kinds.includes('connected'))
    expect(kinds).toEqual(['connected'])
  })

  test('is kept while the server answers, however slowly, and while no command is pending', async () => {
    const { store, kinds } = open({ watchdog: '1s' })
    await until(() => kinds.includes('connected'))
    await proxy.inject({ kind: 'latency', ms: 300 })
    const { connections } = proxy.traffic
    for (let round = 0; round < 4; round += 1) expect(await answers(store)).toBe(true)
    await pause(2500)
    expect([proxy.traffic.connections, kinds]).toEqual([connections, ['connected']])
  })

  test('is not opened again once the store is closed', async () => {
    const { store } = open()
    await until(() => answers(store))
    server.pause()
    const pending = store.read('k', json)
    await store.close()
    expect((await pending).kind).toBe('away')
    const { connections } = proxy.traffic
    await pause(1000)
    server.resume()
    expect(proxy.traffic.connections).toBe(connections)
  })
})

async function byUser(): Promise<ReturnType<typeof open>> {
  const client = createClient({ url: `redis://127.0.0.1:${proxy.port}`, RESP: 2 })
  client.on('error', () => undefined)
  await client.connect()
  ends.push(() => client.destroy())
  return open({ client, url: undefined })
}

describe.each([
  ['the client that the store creates', async () => open()],
  ['the user’s client with RESP 2', byUser],
])('the connection for the wake-ups, beside %s,', (_, openBeside) => {
  test('is kept while the server answers, and replaced when its server vanishes silently', async () => {
    const { kinds } = await openBeside()
    await until(() => kinds.includes('connected'))
    // Longer than several checks of the connection.
    await pause(5000)
    expect(kinds).toEqual(['connected'])
    await proxy.inject({ kind: 'half-open' })
    await proxy.heal()
    await until(() => kinds.join(' ') === 'connected disconnected connected')
  })
})
