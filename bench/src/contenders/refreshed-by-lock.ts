import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Open, Opened } from './contender.ts'
import { connected } from './node-redis.ts'

const POLL = 20

interface Version {
  readonly text: string
  readonly freshUntil: number
}

/**
 * The fewest commands for a hot key whose age no host's clock tells: GET for each read, PTTL for a version that this process has not seen, SET NX for each process
 * that finds it stale, and one SET. The lock ends by itself. PTTL comes behind
 * the GET, so an old value may get the time of a new one, and nobody asks what becomes of a loader that dies, is late, or was overtaken by an invalidation.
 */
export const open: Open = async ({ load, ttl, stale, redis = '', namespace }) => {
  const client = await connected(redis)
  const reads = new Map<string, Promise<unknown>>()
  const seen = new Map<string, Version>()
  const locked = async (entry: string): Promise<boolean> =>
    (await client.set(`${entry}:lock`, '', { condition: 'NX', expiration: { type: 'PX', value: ttl / 2 } })) !== null
  /** Resolves to false where another process has the lock. */
  const refresh = async (entry: string, key: string): Promise<boolean> => {
    if (!(await locked(entry))) return false
    const text = JSON.stringify({ version: randomUUID(), value: await load(key) })
    await client.set(entry, text, { expiration: { type: 'PX', value: ttl + stale } })
    return true
  }
  const noteVersion = async (entry: string, key: string, text: string): Promise<void> => {
    const known = seen.get(key)
    const now = performance.now()
    if (known?.text !== text) {
      seen.set(key, { text, freshUntil: now + (await client.pTTL(entry)) - stale })
    } else if (now >= known.freshUntil) {
      // Once for each version.
      seen.set(key, { text, freshUntil: Infinity })
      void refresh(entry, key)
    }
  }
  const read = async (key: string): Promise<unknown> => {
    const entry = `${namespace}:${key}`
    for (;;) {
      const text = await client.get(entry)
      if (text !== null) {
        await noteVersion(entry, key, text)
        return (JSON.parse(text) as { readonly value: unknown }).value
      }
      if (!(await refresh(entry, key))) await sleep(POLL)
    }
  }
  const get: Opened['get'] = (key) => {
    const running = reads.get(key) ?? read(key).finally(() => reads.delete(key))
    reads.set(key, running)
    return running
  }
  return { get, close: () => client.close() }
}
