import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Cache, createCache, memoryStore, structured } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import * as fc from 'fast-check'
import { type Client, connect } from '../../../../test/support/redis-under-test.ts'

const KEYS = ['a', 'b', 'c', 'd'] as const
const TAGS = ['t', 'u'] as const

/** One call on one of two caches that share a store. */
type Step = readonly [
  verb: (typeof VERBS)[number],
  cache: 0 | 1,
  key: (typeof KEYS)[number],
  tag: (typeof TAGS)[number],
]

const VERBS = [
  'getOrSet',
  'getOrSet tagged',
  'getOrSet strict',
  'getOrSet failing',
  'getOrSetMany',
  'lookup',
  'refresh',
  'refresh uncacheable',
  'set',
  'set tagged',
  'delete',
  'deleteMany',
  'expire',
  'invalidateTags',
  'expireTags',
  'clear',
  'get',
  'get stale',
  'read',
  'getMany',
  'inspect',
] as const

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.tuple(
    fc.constantFrom(...VERBS),
    fc.constantFrom(0 as const, 1 as const),
    fc.constantFrom(...KEYS),
    fc.constantFrom(...TAGS),
  ),
  { minLength: 5, maxLength: 40 },
)

const TAG_SEEN_BY_INSPECT: readonly Step[] = [
  ['set tagged', 0, 'a', 't'],
  ['invalidateTags', 1, 'a', 't'],
  ['inspect', 0, 'a', 't'],
]

let clients: readonly Client[]
let namespaces = 0
beforeAll(async () => {
  clients = await Promise.all([connect(), connect()])
})
afterAll(() => Promise.all(clients.map((client) => client.close())))

/** Makes the step and returns what its caller sees, without times. `value`: what a load or a write brings. */
async function seenBy(cache: Cache, [verb, , key, tag]: Step, value: object): Promise<unknown> {
  const both = [key, 'a']
  switch (verb) {
    case 'getOrSet':
      return await cache.getOrSet(key, () => value)
    case 'getOrSet tagged':
      return await cache.getOrSet(key, (load) => {
        load.keep({ tags: [tag] })
        return value
      })
    case 'getOrSet strict':
      return await cache.getOrSet(key, () => value, { staleWhileRevalidate: false, staleIfError: false })
    case 'getOrSet failing':
      return await cache.getOrSet(key, () => Promise.reject(new Error('no source')), { isFailure: () => false })
    case 'getOrSetMany':
      return await cache.getOrSetMany(both, (missing) => new Map(missing.map((name) => [name, value])))
    case 'lookup': {
      const { value: found, status, foundStale, outcome } = await cache.lookup(key, () => value)
      return [found, status, foundStale, outcome?.kind]
    }
    case 'refresh':
      return await cache.refresh(key, () => value)
    case 'refresh uncacheable':
      return await cache.refresh(key, (load) => {
        load.keep({ ttl: 0 })
        return value
      })
    case 'set':
      return await cache.set(key, value)
    case 'set tagged':
      return await cache.set(key, value, { tags: [tag] })
    case 'delete':
      return await cache.delete(key)
    case 'deleteMany':
      return await cache.deleteMany(both)
    case 'expire':
      return await cache.expire(key)
    case 'invalidateTags':
      return await cache.invalidateTags([tag])
    case 'expireTags':
      return await cache.expireTags([tag])
    case 'clear':
      // Redis still counts entries that a tag made unusable.
      await cache.clear()
      return undefined
    case 'get':
      return await cache.get(key)
    case 'get stale':
      return await cache.get(key, { stale: true })
    case 'read': {
      const found = await cache.read(key)
      return found && [found.value, found.state]
    }
    case 'getMany':
      return await cache.getMany(both)
    case 'inspect': {
      const { state, lease, waitersHere } = (await cache.inspect(key)) ?? {}
      return [state, lease, waitersHere]
    }
  }
}

/** Waits until no load runs: a call may return before its result is stored, or while the key is refreshed in the background. */
async function rest(cache: Cache): Promise<void> {
  for (const key of KEYS) while ((await cache.inspect(key))?.lease !== null) await new Promise(setImmediate)
}

async function seen(caches: readonly Cache[], given: readonly Step[]): Promise<readonly unknown[]> {
  const all: unknown[] = []
  for (const [index, step] of given.entries()) {
    const cache = caches[step[1]]
    if (cache === undefined) throw new Error('two caches')
    all.push(await seenBy(cache, step, { index }).catch((error: unknown) => String(error)))
    await rest(cache)
  }
  return all
}

test('one call after another shows the same on the memory store and on Redis, whichever verbs they are', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (given) => {
      const options = { ttl: '1h', staleWhileRevalidate: '1h', staleIfError: '1h', codec: structured } as const
      namespaces += 1
      const namespace = `side-by-side-${process.pid}-${namespaces}`
      const memory = memoryStore()
      const inMemory = [0, 1].map(() => createCache({ ...options, store: memory }))
      const onRedis = clients.map((client) => createCache({ ...options, store: redisStore({ client, namespace }) }))
      try {
        await Promise.all(onRedis.map((cache) => cache.ready()))
        expect(await seen(onRedis, given)).toEqual(await seen(inMemory, given))
      } finally {
        await onRedis[0]?.clear()
        await Promise.all([...inMemory, ...onRedis].map((cache) => cache.close()))
      }
    }),
    {
      numRuns: Number(process.env['CATTLEGRID_RUNS'] ?? 100),
      examples: [[TAG_SEEN_BY_INSPECT]],
    },
  )
}, 300_000)
