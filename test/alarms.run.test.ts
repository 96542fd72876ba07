import { once } from 'node:events'
import { readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs'
import { channel } from 'node:diagnostics_channel'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Cache, type CacheOptions, type CallOptions, createCache, type Load } from '@cattlegrid/core'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { redisStore } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { Registry } from 'prom-client'
import { createClient } from 'redis'
import { pairOfCaches, playEveryOutcome } from '../packages/metrics/test/support/every-outcome.ts'
import { freePort } from './free-port.ts'
import { OwnTime } from './support/own-time.ts'
import { type Prometheus, startPrometheus } from './support/prometheus.ts'

// Each cause that the text of an alarm names is made on real servers, each in a cache of its own name; one Prometheus judges them all. Its windows are
// those of the rules, divided by ten, so that a day of minutes takes less than one.

const RULES = resolve('packages/metrics/grafana/alerts.yml')
const FASTER = 10

interface Scenario {
  /** The alarms that must be raised in the end, and no others. */
  readonly raises: readonly string[]
  readonly mayRaise?: readonly string[]
  readonly options?: CacheOptions
  /** The store's URL; default: that of the healthy server. */
  readonly url?: () => string
  /** One turn of its traffic; `turn` counts from 0. */
  readonly turn: (cache: Cache, turn: number) => Promise<unknown>
}

const register = new Registry()
const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-alarms-'))
const servers: RedisServer[] = []
const caches: Cache[] = []
let healthy: RedisServer
let broken: RedisServer
let frozen: RedisServer
let nobody: string
let exporter: Server
let prometheus: Prometheus
const traffic = new AbortController()
const time = new OwnTime()
/** Another process of the cache whose leaders hang. */
let rival: Cache
let admin: ReturnType<typeof createClient>

const value = (): Promise<string> => sleep(5, 'value')
const hot = (cache: Cache, turn: number): Promise<unknown> =>
  Promise.all([cache.getOrSet(`k${turn % 50}`, value), cache.getOrSet(`other${turn % 40}`, value)])

let busy: Promise<unknown> = Promise.resolve()
/** A source that answers 20 loads in a second, however many it has. */
function oneByOne(): Promise<string> {
  const answer = busy.then(() => sleep(50, 'late'))
  busy = answer
  return answer
}

const scenarios: Readonly<Record<string, Scenario>> = {
  'healthy day': {
    raises: [],
    options: { staleWhileRevalidate: '1s', near: { maxAge: '1s' } },
    turn: async (cache, turn) => {
      await hot(cache, turn)
      await cache.getOrSet('private', (load) => load.uncacheable({ for: '1s' })).catch(() => undefined)
      if (turn % 200 === 0) await losing(cache, turn, (key) => cache.delete(key))
      if (turn % 400 === 0)
        await cache.getOrSet('failing', () => Promise.reject(new Error('now and then'))).catch(() => 0)
    },
  },
  'idle day': { raises: [], turn: async () => undefined },
  'never there': { raises: ['StoreAway', 'NoticesLost', 'Stampede'], url: () => nobody, turn: hot },
  killed: { raises: ['StoreAway', 'NoticesLost', 'Stampede'], url: () => broken.url, turn: hot },
  frozen: { raises: ['StoreAway', 'NoticesLost', 'Stampede'], url: () => frozen.url, turn: hot },
  'password changed': {
    raises: ['StoreAway', 'NoticesLost', 'Stampede'],
    url: () => healthy.url.replace('redis://', 'redis://changed:old@'),
    turn: hot,
  },
  'no right to subscribe': {
    raises: ['NoticesLost'],
    url: () => healthy.url.replace('redis://', 'redis://mute:mute@'),
    turn: hot,
  },
  'too large to store': {
    raises: ['Stampede'],
    options: { maxEntryBytes: 10 },
    turn: (cache, turn) => cache.getOrSet(`large${turn}`, () => sleep(5, 'x'.repeat(100))),
  },
  'not to be encoded': {
    raises: ['Stampede'],
    turn: (cache, turn) => cache.getOrSet(`function${turn}`, () => sleep(5, { value: 1n })),
  },
  voided: {
    raises: ['LeasesLost', 'Stampede'],
    turn: (cache, turn) => losing(cache, turn, (key) => cache.delete(key)),
  },
  'tag voided': {
    raises: ['LeasesLost', 'Stampede'],
    turn: (cache, turn) => losing(cache, turn, () => cache.invalidateTags(['all']), { tags: ['all'] }),
  },
  expired: {
    raises: ['LeasesLost', 'Stampede'],
    options: { lease: { duration: 10, maxHold: 10 } },
    turn: (cache, turn) => losing(cache, turn, () => sleep(40)),
  },
  taken: {
    raises: ['LeasesLost', 'Stampede'],
    turn: (cache, turn) =>
      losing(cache, turn, (key) =>
        onServer(['SET', `taken:{${key}}:l`, `L${'t'.repeat(22)}-0001${'0'.repeat(16)}`, 'PX', '60']),
      ),
  },
  'source down': {
    raises: ['LoadsFail'],
    options: { failureCooldown: { min: 100, max: 100 } },
    turn: (cache) => cache.getOrSet('failing', () => Promise.reject(new Error('down'))),
  },
  'source slow': {
    raises: ['WaitsLong'],
    // A limit that follows needs some rounds of such loads: how many, depends on the machine.
    options: { maxLoads: false },
    turn: (cache, turn) => cache.getOrSet(`slow${turn}`, ({ signal }) => time.sleep(3000, 'late', signal)),
  },
  'source overloaded': {
    raises: ['Overloaded'],
    // Some calls wait until their time is over, before the limit is found.
    mayRaise: ['CallsWaitInVain', 'WaitsLong'],
    options: { maxLoads: 'auto', waitTimeout: 2000 },
    turn: (cache, turn) =>
      Promise.allSettled(Array.from({ length: 100 }, (_, place) => cache.getOrSet(`crowd${turn}-${place}`, oneByOne))),
  },
  'page that names its client': {
    raises: ['AuditMismatch'],
    turn: (cache) => {
      channel('cattlegrid:audit').publish({ type: 'audit', cache: cache.name, route: '/page', result: 'different' })
      return Promise.resolve()
    },
  },
  'leaders hang': {
    raises: ['CallsWaitInVain'],
    options: { waitTimeout: 50 },
    turn: async (cache, turn) => {
      const leading = rival.getOrSet(`hung${turn}`, (load) => sleep(2000, 'late', { signal: load.signal }))
      await sleep(100)
      await Promise.all([leading, cache.getOrSet(`hung${turn}`, value)])
    },
  },
}

async function losing(
  cache: Cache,
  turn: number,
  lose: (key: string) => Promise<unknown>,
  options: CallOptions = {},
): Promise<void> {
  const load = async ({ key }: Load): Promise<string> => {
    await lose(key)
    return await value()
  }
  await cache.getOrSet(`lost${turn}`, load, options)
}

async function onServer(command: readonly string[]): Promise<void> {
  await admin.sendCommand(command)
}

/** The rules as they are, over shorter times. */
function fasterRules(): string {
  const file = join(folder, 'alerts.yml')
  const seconds = (minutes: string): string => `${(Number(minutes) * 60) / FASTER}s`
  const text = readFileSync(RULES, 'utf8')
    .replaceAll(/\[(\d+)m\]/g, (_, minutes: string) => `[${seconds(minutes)}]`)
    .replaceAll(/for: (\d+)m/g, 'for: 3s')
  writeFileSync(file, text)
  return file
}

async function play(name: string, { options = {}, url = () => healthy.url, turn }: Scenario): Promise<void> {
  const store = redisStore({ url: url(), namespace: name.replaceAll(' ', '-') })
  const cache = createCache({ name, store, ttl: '1s', runtime: time.runtime, ...options })
  caches.push(cache)
  prometheusMetrics(cache, { register })
  // Turns overlap: a slow one does not make the traffic less.
  for (let count = 0; !traffic.signal.aborted; count += 1) {
    void turn(cache, count).catch(() => undefined)
    await time.sleep(50, undefined)
  }
}

beforeAll(async () => {
  ;[healthy, broken, frozen] = (await Promise.all([0, 1, 2].map(() => startRedis({ own: true })))) as [
    RedisServer,
    RedisServer,
    RedisServer,
  ]
  servers.push(healthy, broken, frozen)
  admin = createClient({ url: healthy.url })
  await admin.connect()
  await onServer(['ACL', 'SETUSER', 'changed', 'on', '>old', '~*', '&*', '+@all'])
  await onServer(['ACL', 'SETUSER', 'mute', 'on', '>mute', '~*', '+@all', '-subscribe', '-ssubscribe'])
  rival = createCache({ store: redisStore({ url: healthy.url, namespace: 'leaders-hang' }), ttl: '1h' })
  caches.push(rival)
  nobody = `redis://127.0.0.1:${await freePort()}`
  exporter = createServer((_req, res) => {
    void register.metrics().then((text) => res.setHeader('content-type', register.contentType).end(text))
  })
  exporter.listen(0, '127.0.0.1')
  await once(exporter, 'listening')
  prometheus = await startPrometheus(`127.0.0.1:${(exporter.address() as AddressInfo).port}`, fasterRules())
  for (const [name, scenario] of Object.entries(scenarios)) void play(name, scenario)
  // A violation needs a store that breaks its contract.
  const pair = pairOfCaches()
  prometheusMetrics(pair.cache, { register })
  await playEveryOutcome(pair)
  await scraped(6)
  await broken.kill()
  frozen.pause()
  await onServer(['ACL', 'SETUSER', 'changed', 'resetpass', '>new'])
  await onServer(['CLIENT', 'KILL', 'USER', 'changed'])
  // The longest window, and what an alarm waits for.
  await scraped(6 + 300 / FASTER + 12)
  traffic.abort()
}, 300_000)

afterAll(async () => {
  traffic.abort()
  time.stop()
  frozen?.resume()
  await Promise.all(caches.map((cache) => cache.close({ drain: 100 }).catch(() => undefined)))
  await prometheus?.stop()
  exporter?.closeAllConnections()
  exporter?.close()
  admin?.destroy()
  await Promise.all(servers.map((server) => server.stop()))
  rmSync(folder, { recursive: true })
})

async function ask<T>(path: string): Promise<T> {
  return (await prometheus.ask(path)) as T
}

async function scraped(times: number): Promise<void> {
  for (;;) {
    const query = encodeURIComponent('count_over_time(up[1h])')
    const { result } = await ask<{ readonly result: readonly { readonly value: readonly [number, string] }[] }>(
      `query?query=${query}`,
    )
    if (Number(result[0]?.value[1] ?? 0) >= times) return
    await sleep(200)
  }
}

async function raisedFor(name: string): Promise<readonly string[]> {
  const { alerts } = await ask<{
    readonly alerts: readonly { readonly state: string; readonly labels: Readonly<Record<string, string>> }[]
  }>('alerts')
  const raised = alerts.filter(({ state, labels }) => state === 'firing' && labels['cache'] === name)
  return [...new Set(raised.map(({ labels }) => labels['alertname']?.replace('Cattlegrid', '') ?? ''))].toSorted()
}

test.each(Object.entries(scenarios))(
  'the alarms of a cache, %s, are those of its condition',
  async (name, { raises, mayRaise = [] }) => {
    const raised = await raisedFor(name)
    expect(raised.filter((alarm) => !mayRaise.includes(alarm))).toEqual(raises.toSorted())
  },
)
