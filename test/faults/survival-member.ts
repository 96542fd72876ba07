// One process in which everything of its owner's fails that can: loaders, codecs, observers, callers who leave. It handles no rejection and
// no uncaught error, so the first one that is nobody's ends it.
import type { EventEmitter } from 'node:events'
import { type Cache, createCache, type EventName, type Load, type OpenCodec } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'
import type { Command, SurvivalReport } from './survival.ts'

const { SURVIVAL_REDIS: url = '', SURVIVAL_NAMESPACE: namespace = '' } = process.env
const warnings: string[] = []
process.on('warning', (warning) => warnings.push(String(warning)))

/** Every connection that is made after this, with the number of its `error` listeners when it began to connect. */
const connections: { readonly client: EventEmitter; readonly listeners: number }[] = []
function watchConnections(): void {
  let prototype: object = createClient()
  while (!Object.hasOwn(prototype, 'connect')) prototype = Object.getPrototypeOf(prototype) as object
  const { connect } = prototype as { connect: (this: EventEmitter) => Promise<unknown> }
  Object.assign(prototype, {
    connect(this: EventEmitter) {
      connections.push({ client: this, listeners: this.listenerCount('error') })
      return connect.call(this)
    },
  })
}

async function userClient() {
  const client = createClient({ url })
  client.on('error', () => {})
  return await client.connect()
}
const client = await userClient()
watchConnections()

/** Each part of the process fails at its own pace. */
function every(times: number): () => boolean {
  let calls = 0
  return () => (calls += 1) % times === 0
}

const encodeFails = every(7)
const decodeFails = every(11)
const flaky: OpenCodec = {
  id: 200,
  encode(value) {
    if (encodeFails()) throw new Error('encode')
    return Buffer.from(JSON.stringify(value))
  },
  decode<T>(bytes: Buffer): T {
    if (decodeFails()) throw new Error('decode')
    return JSON.parse(bytes.toString()) as T
  },
}

const OBSERVED: readonly EventName[] = [
  ...(['hit', 'miss', 'join', 'lead', 'follow', 'wake', 'load', 'outcome', 'commit', 'refused', 'renew'] as const),
  ...(['lease-lost', 'load-failed', 'cooling', 'wait-timeout', 'invalidate', 'encode-failed', 'too-large'] as const),
  ...(['unreadable', 'away', 'breaker', 'notices', 'warning', 'observer-failed', 'close'] as const),
]
const counts: Record<string, number> = {}
function observe(cache: Cache): void {
  const rejects: () => unknown = () => Promise.reject(new Error('observer, later'))
  for (const name of OBSERVED) {
    cache.on(name, () => {
      counts[name] = (counts[name] ?? 0) + 1
    })
    cache.on(name, () => {
      throw new Error('observer')
    })
    cache.on(name, rejects)
  }
}

const stores = [redisStore({ url, namespace }), redisStore({ client, namespace })]
const caches = stores.map((store) =>
  createCache({
    store,
    near: { maxAge: '200ms' },
    codec: flaky,
    ttl: '20ms',
    staleWhileRevalidate: '1m',
    lease: { duration: '300ms' },
    loadTimeout: '500ms',
    failureCooldown: { min: 1, max: '50ms' },
    maxLoads: 8,
    isFailure: () => {
      throw new Error('isFailure')
    },
  }),
)
for (const cache of caches) observe(cache)

const hostile = {
  get name(): string {
    throw new Error('no name')
  },
}
const REASONS: readonly unknown[] = [new Error('load'), undefined, null, 'text', hostile]
const loadFails = every(3)
const loadHangs = every(50)
let background = 0
let reasons = 0

async function load({ background: behind, signal, key }: Load): Promise<string> {
  await rest(Math.random() * 20)
  if (loadHangs())
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  if (!loadFails()) return `${key} ${'x'.repeat(Math.random() * 1000)}`
  if (behind) background += 1
  throw REASONS[(reasons += 1) % REASONS.length]
}

const VERBS: readonly ((cache: Cache, key: string) => Promise<unknown>)[] = [
  (cache, key) => cache.getOrSet(key, load),
  (cache, key) => cache.getOrSet(key, load, { staleWhileRevalidate: false, tags: [key] }),
  (cache, key) => cache.getOrSet(key, load, { signal: AbortSignal.timeout(5), staleWhileRevalidate: false }),
  (cache, key) => cache.lookup(key, load),
  (cache, key) => cache.refresh(key, load),
  (cache, key) => cache.getOrSetMany([key, `${key}+`], async (missing) => new Map(missing.map((one) => [one, 'many']))),
  (cache, key) => cache.getMany([key, `${key}+`]),
  (cache, key) => cache.set(key, 'set'),
  (cache, key) => cache.delete(key),
  (cache, key) => cache.expire(key),
  (cache, key) => cache.invalidateTags([key]),
  (cache, key) => cache.inspect(key),
]

let calls = 0
const over = new AbortController()
async function work(): Promise<void> {
  while (!over.signal.aborted) {
    const cache = caches[calls % caches.length]
    const verb = VERBS[Math.floor(Math.random() * VERBS.length)]
    calls += 1
    // What a call rejects with is its caller's: everything else is ours.
    if (cache !== undefined) await verb?.(cache, `k${Math.floor(Math.random() * 20)}`).catch(() => {})
    await rest(1)
  }
}
const workers = Array.from({ length: 16 }, work)

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Whether each cache stores again what it loads. */
async function isBack(): Promise<boolean> {
  const outcomes = await Promise.all(
    caches.map(async (cache) => {
      const { outcome } = await cache
        .lookup(`back ${Math.random()}`, () => 'back')
        .catch(() => ({ outcome: undefined }))
      return outcome?.kind
    }),
  )
  return outcomes.every((kind) => kind === 'committed')
}

async function end(): Promise<SurvivalReport> {
  over.abort()
  await Promise.all(workers)
  await Promise.all(caches.map((cache) => cache.close({ drain: '1s' })))
  client.destroy()
  await rest(500)
  const deaf = connections.filter((made) => made.listeners === 0 || made.client.listenerCount('error') === 0).length
  return { calls, background, counts, warnings, connections: connections.length, withoutListener: deaf }
}

process.on('message', ({ id, command }: { id: number; command: Command }) => {
  const answer = command === 'is-back' ? isBack() : end()
  void answer.then((result) => process.send?.({ id, result }))
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: true })
