// One process with a near cache: it writes, it knows what was written, and it tells when it learns that this is no longer so.
import { createCache, type Duration } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'
import type { Command, Seen, Written } from './near-push.ts'

const { NEAR_REDIS = '', NEAR_EAR = '', NEAR_NAMESPACE = '', NEAR_MAX_AGE = '' } = process.env
const client = createClient({ url: NEAR_REDIS })
client.on('error', () => {})
// The store listens on a duplicate: this one has a way of its own to Redis, which alone is cut.
Object.assign(client, { duplicate: () => createClient({ url: NEAR_EAR }) })
await client.connect()
const cache = createCache({
  store: redisStore({ client, namespace: NEAR_NAMESPACE }),
  storeTimeout: '20s',
  ttl: '1h',
  near: { maxAge: NEAR_MAX_AGE as Duration },
  outage: false,
})

/** ms of a clock that all processes of a machine share. */
function now(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function write(keys: readonly string[], value: number): Promise<Written[]> {
  const written: Written[] = []
  for (const key of keys) {
    const began = now()
    if (value === 0) await cache.delete(key)
    else await cache.set(key, value)
    written.push({ began, settled: now() })
  }
  return written
}

/** Reads until the answer comes from the near cache. */
async function know(keys: readonly string[], value: number): Promise<void> {
  for (const key of keys) {
    for (;;) {
      const found = await cache.lookup(key, () => 0, { ttl: '1ms' })
      if (found.value === value && found.from === 'near') break
      await rest(1)
    }
  }
}

/** Reads each key until the answer is another one than `value`. */
async function watch(keys: readonly string[], value: number): Promise<Seen[]> {
  return await Promise.all(
    keys.map(async (key) => {
      for (let lastOld = 0; ;) {
        const asked = now()
        if ((await cache.get<number>(key)) !== value) return { lastOld, firstNew: now() }
        lastOld = asked
        await rest(1)
      }
    }),
  )
}

function execute({ do: verb, keys, value }: Command): Promise<unknown> {
  switch (verb) {
    case 'write':
      return write(keys, value)
    case 'know':
      return know(keys, value)
    case 'watch':
      return watch(keys, value)
  }
}

process.on('message', ({ id, command }: { id: number; command: Command }) => {
  execute(command).then(
    (result) => process.send?.({ id, result }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  )
})
process.on('disconnect', () => process.exit())
process.send?.({ ready: true })
