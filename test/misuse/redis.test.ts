import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, type Server } from 'node:tls'
import { createCache, structured } from '@cattlegrid/core'
import { redisStore, type RedisStoreOptions } from '@cattlegrid/redis'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import { afterAll, beforeAll, expect } from '@jest/globals'
import { Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { until } from '../support/until.ts'
import { describeMisuses, warned } from './misuse.ts'

const PASSWORD = 's3cret'

let server: RedisServer
let guarded: RedisServer
let tls: Server
const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-tls-'))

beforeAll(async () => {
  server = await startRedis({ own: true })
  guarded = await startRedis({ args: ['--requirepass', PASSWORD] })
  const [key, certificate] = [join(folder, 'key'), join(folder, 'certificate')]
  const subject = ['-subj', '/CN=127.0.0.1', '-days', '1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', certificate, ...subject],
    { stdio: 'ignore' },
  )
  tls = createServer({ key: readFileSync(key), cert: readFileSync(certificate) }, (socket) => {
    const inner = connect(server.port, '127.0.0.1')
    for (const end of [socket, inner]) end.on('error', () => inner.destroy())
    socket.pipe(inner).pipe(socket)
  })
  tls.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => void tls.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  tls.close()
  rmSync(folder, { recursive: true })
  await server.stop()
  await guarded.stop()
})

const NOWHERE = 'redis://127.0.0.1:1'

interface Emitting {
  on(event: 'error', listener: () => void): unknown
}

/** As users do: without a listener an error ends the process. */
function quiet<C extends Emitting>(client: C): C {
  client.on('error', () => undefined)
  return client
}

/** A client of node-redis whose `connect()` is rejected, or ends with the test. */
function connecting(url: string, settings: object = {}) {
  const client = quiet(createClient({ url, ...settings }))
  client.connect().catch(() => undefined)
  return client
}

/**
 * Uses a cache on this store until it has warned, and three times more. `ready` is what ready() says: the code of the store's answer, or nothing where the
 * store answers. The calls work whatever happens.
 */
async function use(options: RedisStoreOptions, ready?: RegExp, end: () => unknown = () => undefined): Promise<void> {
  const cache = createCache({ store: redisStore(options), ttl: '1m' })
  const said = await cache.ready({ timeout: '300ms' }).catch((error: unknown) => error)
  if (ready === undefined) expect(said).toBeUndefined()
  else expect(said).toMatchObject({ code: 'CATTLEGRID_STORE_AWAY', message: expect.stringMatching(ready) })
  await until(() => emitted() > 0)
  for (const key of ['a', 'b', 'c']) expect(await cache.getOrSet(key, () => key)).toBe(key)
  await cache.close({ drain: 0 })
  await end()
}

/** The number of warnings so far: the table has replaced the function. */
function emitted(): number {
  return (process.emitWarning as unknown as { readonly mock: { readonly calls: readonly unknown[] } }).mock.calls.length
}

/** Reads by one codec what another one has stored. */
async function useTwoCodecs(): Promise<void> {
  const caches = [undefined, structured].map((codec) =>
    createCache({ codec, ttl: '1m', store: redisStore({ url: server.url, namespace: 'mixed' }) }),
  )
  const [first, second] = caches
  await Promise.all(caches.map((cache) => cache.ready()))
  await first?.set('k', 1)
  for (let call = 0; call < 3; call += 1) expect(await second?.getOrSet('k', () => 2)).toBe(2)
  for (const cache of caches) await cache.close()
}

const STORE = 'CATTLEGRID_STORE'
const NOT_CONNECTED = /^ready\(\) was not sent, because the store is not connected/

describeMisuses('a store on Redis whose server or client is wrong', [
  warned('no server listens at the url', STORE, /cannot be reached \(.*ECONNREFUSED.*check that a server listens/, () =>
    use({ url: NOWHERE }, /not connected \(ECONNREFUSED\)/),
  ),
  warned(
    'connect() of the client is rejected',
    STORE,
    /client cannot connect \(.*ECONNREFUSED.*check that a server listens/,
    () =>
      use({ client: connecting(NOWHERE, { socket: { reconnectStrategy: false } }) }, /not connected \(ECONNREFUSED\)/),
  ),
  warned(
    'ioredis finds no server',
    STORE,
    /client cannot connect \(.*ECONNREFUSED.*check that a server listens/,
    () => {
      const client = quiet(new Redis(NOWHERE))
      return use({ client }, /not connected \(ECONNREFUSED\)/, () => client.disconnect())
    },
  ),
  warned('the password is wrong', STORE, /WRONGPASS.*give it the user and the password that the server knows/, () =>
    use({ url: `redis://:wrong@127.0.0.1:${guarded.port}` }, /not connected \(WRONGPASS\)/),
  ),
  warned('the url lacks the password', STORE, /NOAUTH.*give it the user and the password that the server knows/, () =>
    use({ url: guarded.url }, /not connected \(NOAUTH\)/),
  ),
  warned(
    'the url is plain, and the server speaks TLS',
    STORE,
    /if the server speaks TLS, write rediss: in place of redis:/,
    () => use({ url: `redis://127.0.0.1:${(tls.address() as AddressInfo).port}` }, NOT_CONNECTED),
  ),
  warned(
    'the url has TLS, and the server is plain',
    STORE,
    /if the server speaks no TLS, write redis: in place of rediss:/,
    () => use({ url: `rediss://127.0.0.1:${server.port}` }, NOT_CONNECTED),
  ),
  warned('the certificate of the server is unknown', STORE, /self-signed certificate.*make the authority .*known/, () =>
    use(
      { url: `rediss://127.0.0.1:${(tls.address() as AddressInfo).port}` },
      /not connected \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    ),
  ),
  warned('the client is never connected', STORE, /client is not open: .*Call `await client\.connect\(\)`/, () =>
    use({ client: quiet(createClient({ url: server.url })) }, NOT_CONNECTED),
  ),
  warned('the client is closed', STORE, /client is not open: it was closed, or not told to connect/, async () => {
    const client = quiet(createClient({ url: server.url }))
    await client.connect()
    await client.close()
    await use({ client }, NOT_CONNECTED)
  }),
  warned(
    'the client has subscribed',
    STORE,
    /has subscribed to a channel.*give redisStore a client of its own/,
    async () => {
      const client = quiet(createClient({ url: server.url, RESP: 2 }))
      await client.connect()
      await client.subscribe('news', () => undefined)
      await use({ client }, /did not answer ready\(\)/, () => client.destroy())
    },
  ),
  warned(
    'a client of a cluster has a single server',
    STORE,
    /the server is no cluster, so give redisStore createClient\(\)/,
    () => {
      const client = quiet(createCluster({ rootNodes: [{ url: server.url }] }))
      client.connect().catch(() => undefined)
      return use({ client }, /not connected \(ERR\)/)
    },
  ),
  warned(
    'the client has a keyPrefix, and the store no namespace',
    STORE,
    /keyPrefix: 'app:'` does not count.*give redisStore a `namespace`/,
    () => {
      const client = quiet(new Redis(server.url, { keyPrefix: 'app:' }))
      return use({ client }, undefined, () => client.disconnect())
    },
  ),
  warned(
    'two codecs have one namespace',
    'CATTLEGRID_MIXED_NAMESPACE',
    /entries of another codec\..*give each codec a namespace of its own/,
    useTwoCodecs,
  ),
])
