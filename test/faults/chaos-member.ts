// One process of the chaos run: asks for keys without end, through a lock, and holds the lock while it asks the source.
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'
import { createClient } from 'redis'
import { lookupByClaim } from '../support/lookup-by-claim.ts'
import { naiveLock } from './naive-lock.ts'

/** The lease of both locks, ms: short, so that a pause outlives it. */
export const LEASE = 200

const { CHAOS_REDIS = '', CHAOS_SOURCE = '', CHAOS_NAMESPACE = '', CHAOS_LOCK = '', CHAOS_KEYS = '0' } = process.env
/** What the source says now, on its way for a while. */
const load = async (key: string): Promise<number> => {
  const truth = Number(await (await fetch(`${CHAOS_SOURCE}/${key}`)).text())
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 30))
  return truth
}

/** By `getOrSet` or by a claim. */
async function throughLeases(): Promise<(key: string) => Promise<number>> {
  const client = createClient({ url: CHAOS_REDIS })
  client.on('error', () => {})
  await client.connect()
  const store = redisStore({ client, namespace: CHAOS_NAMESPACE })
  const cache = createCache({ store, storeTimeout: '20s', ttl: '1h', lease: { duration: LEASE } })
  return async (key) => {
    if (Math.random() < 0.5) return await cache.getOrSet(key, () => load(key))
    return (await lookupByClaim(cache, key, () => load(key))).value
  }
}

const ask = CHAOS_LOCK === 'leases' ? await throughLeases() : await naiveLock(CHAOS_REDIS, CHAOS_NAMESPACE, LEASE, load)

async function askOn(): Promise<never> {
  for (;;) {
    await ask(`k${Math.floor(Math.random() * Number(CHAOS_KEYS))}`).catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

for (let caller = 0; caller < 8; caller += 1) void askOn()
process.on('disconnect', () => process.exit())
process.send?.({ ready: true })
