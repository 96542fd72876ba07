import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect as connectTo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer } from 'node:tls'
import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type Cache, createCache } from '@cattlegrid/core'
import { type Diagnosis, explain } from '@cattlegrid/explain'
import { logEvents } from '@cattlegrid/metrics/logs'
import { redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { Redis } from 'ioredis6'
import { createClient } from 'redis'
import { until } from './support/until.ts'
import { freePort } from './free-port.ts'

const PASSWORD = 's3cr3t-right'
const WRONG = 's3cr3t-wrong'

let server: RedisServer
const ends: (() => unknown)[] = []

beforeEach(async () => {
  server = await startRedis({ args: ['--requirepass', PASSWORD] })
})
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
  await server.stop()
})

interface Told {
  readonly cache: Cache
  readonly diagnosis: Diagnosis
  readonly warnings: readonly string[]
  readonly lines: readonly unknown[]
  readonly errors: readonly unknown[]
}

function open(options: RedisStoreOptions): Told {
  const cache = createCache({ store: redisStore(options), ttl: '1m' })
  ends.push(() => cache.close({ drain: 0 }))
  const warnings: string[] = []
  const lines: unknown[] = []
  const errors: unknown[] = []
  cache.on('warning', ({ message }) => void warnings.push(message))
  cache.on('breaker', ({ state, error }) => void (state === 'open' && errors.push(error)))
  const write = (fields: object): void => void lines.push(fields)
  logEvents(cache, { info: write, warn: write, error: write })
  return { cache, diagnosis: explain(cache), warnings, lines, errors }
}

/** Expects the reason everywhere where it is told that the store is away, and a password nowhere. */
async function expectReason({ cache, diagnosis, warnings, lines, errors }: Told, reason: string): Promise<void> {
  expect(await cache.getOrSet('k', () => 'value')).toBe('value')
  const error = await cache.delete('k').catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY' })
  expect(inspect(error)).toContain(reason)
  expect(errors).toHaveLength(1)
  expect(inspect(errors)).toContain(reason)
  expect(JSON.stringify(lines)).toContain(reason)
  const explained = await diagnosis.explain('k')
  expect(inspect(explained, { depth: 10 })).toContain(reason)
  const everything = inspect({ warnings, lines, errors, error, explained }, { depth: 20, showHidden: true })
  expect(everything).not.toMatch(/s3cr3t/)
}

const urlWith = (password: string, port: number = server.port): string => `redis://:${password}@127.0.0.1:${port}`

const quiet = <C extends { on(event: 'error', listener: () => void): unknown }>(client: C): C => {
  client.on('error', () => undefined)
  return client
}

function nodeRedis(url: string, socket: object = {}) {
  const client = quiet(createClient({ url, socket: { ...socket, reconnectStrategy: 50 } as never }))
  ends.push(() => client.destroy())
  client.connect().catch(() => undefined)
  return client
}

/** A server of TLS with this certificate in front of Redis. */
async function startTls(days: number): Promise<{ readonly port: number; readonly ca: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-tls-'))
  ends.push(() => rmSync(folder, { recursive: true }))
  const [key, request, certificate, names] = ['k', 'r', 'c', 'n'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
    string,
  ]
  writeFileSync(names, 'subjectAltName=IP:127.0.0.1\n')
  const openssl = (...args: readonly string[]): unknown => execFileSync('openssl', args, { stdio: 'ignore' })
  openssl('req', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', request, '-subj', '/CN=127.0.0.1')
  openssl(
    'x509',
    '-req',
    '-in',
    request,
    '-signkey',
    key,
    '-out',
    certificate,
    '-days',
    String(days),
    '-extfile',
    names,
  )
  const ca = readFileSync(certificate, 'utf8')
  const proxy = createServer({ key: readFileSync(key), cert: ca }, (socket) => {
    const inner = connectTo(server.port, '127.0.0.1')
    socket.on('error', () => inner.destroy())
    inner.on('error', () => socket.destroy())
    socket.pipe(inner).pipe(socket)
  })
  proxy.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve))
  ends.push(() => proxy.close())
  return { port: (proxy.address() as AddressInfo).port, ca }
}

describe('an answer away tells why there is no connection', () => {
  test('a wrong password: with a url, with node-redis and with ioredis', async () => {
    const ioredis = quiet(new Redis({ host: '127.0.0.1', port: server.port, password: WRONG }))
    ends.push(() => ioredis.disconnect())
    for (const options of [{ url: urlWith(WRONG) }, { client: nodeRedis(urlWith(WRONG)) }, { client: ioredis }])
      await expectReason(open(options), 'WRONGPASS')
  })

  test('no password', async () => {
    await expectReason(open({ client: nodeRedis(`redis://127.0.0.1:${server.port}`) }), 'NOAUTH')
  })

  test('a closed port, and one warning names the cure', async () => {
    const port = await freePort()
    for (const options of [{ url: urlWith(PASSWORD, port) }, { client: nodeRedis(urlWith(PASSWORD, port)) }]) {
      const told = open(options)
      await expectReason(told, 'ECONNREFUSED')
      expect(told.warnings).toEqual([expect.stringMatching(/ECONNREFUSED.*check/)])
    }
  })

  test('a password that was changed while the store was connected', async () => {
    const told = open({ url: urlWith(PASSWORD) })
    await told.cache.ready({ timeout: '20s' })
    const admin = quiet(createClient({ url: urlWith(PASSWORD) }))
    await admin.connect()
    ends.push(() => admin.destroy())
    await admin.configSet('requirepass', 's3cr3t-other')
    await admin.sendCommand(['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'])
    const isTold = async (): Promise<boolean> =>
      inspect(await told.cache.delete('k').catch((error: unknown) => error)).includes('WRONGPASS')
    await until(isTold)
    const explained = await told.diagnosis.explain('k')
    expect(explained.sentences).toContainEqual(expect.stringMatching(/^The store does not answer/))
    expect(inspect(explained, { depth: 10 })).toContain('WRONGPASS')
  })

  test('an expired certificate', async () => {
    const { port, ca } = await startTls(0)
    const url = urlWith(PASSWORD, port).replace('redis:', 'rediss:')
    await expectReason(open({ client: nodeRedis(url, { tls: true, ca }) }), 'CERT_HAS_EXPIRED')
  })

  test('a server that became a replica', async () => {
    const told = open({ url: urlWith(PASSWORD) })
    await told.cache.ready({ timeout: '20s' })
    const admin = quiet(createClient({ url: urlWith(PASSWORD) }))
    await admin.connect()
    ends.push(() => admin.destroy())
    await admin.sendCommand(['REPLICAOF', '127.0.0.1', '1'])
    const away: unknown[] = []
    told.cache.on('away', ({ error }) => void away.push(error))
    const error = await told.cache.delete('k').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY', cause: { code: 'READONLY' } })
    expect(away).toMatchObject([{ code: 'READONLY' }])
    expect(JSON.stringify(told.lines)).toContain('READONLY')
  })
})
