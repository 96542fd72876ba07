import { AsyncLocalStorage } from 'node:async_hooks'
import type { Open } from './contender.ts'

const NO_TAGS: readonly string[] = []

/** What a key needs at least that can be stale, fenced and evicted. */
class KeptRecord {
  readonly key: string
  readonly value: unknown
  readonly committedAt: number
  readonly freshUntil: number
  readonly staleUntil: number
  readonly version: number
  readonly tags = NO_TAGS
  older: KeptRecord | undefined
  newer: KeptRecord | undefined = undefined

  constructor(key: string, value: unknown, at: number, older: KeptRecord | undefined) {
    this.key = key
    this.value = value
    this.committedAt = at
    this.freshUntil = at + 1
    this.staleUntil = at + 2
    this.version = at
    this.older = older
  }
}

const LOAD_TIMEOUT = 30_000
const LEASE = 10_000

/** What is kept by hand: the least that each kind of key weighs. */
export const keptByHand: Readonly<Record<string, Open>> = {
  'Map of records': async ({ load }) => {
    const map = new Map<string, KeptRecord>()
    let newest: KeptRecord | undefined
    const get = async (key: string): Promise<unknown> => {
      const found = map.get(key)
      if (found !== undefined) return found.value
      const made = new KeptRecord(key, await load(key), map.size, newest)
      if (newest !== undefined) newest.newer = made
      newest = made
      map.set(key, made)
      return made.value
    }
    return { get, close: async () => undefined }
  },
  'Map of Buffers': async ({ load }) => {
    const map = new Map<string, Buffer>()
    const get = async (key: string): Promise<unknown> => {
      const found = map.get(key) ?? Buffer.from(JSON.stringify(await load(key)))
      map.set(key, found)
      return JSON.parse(found.toString())
    }
    return { get, close: async () => undefined }
  },
  /** One load for all callers of a key, which ends in time. */
  'Map of promises with a time-out': async ({ load }) => {
    const running = new Map<string, Promise<unknown>>()
    const run = (key: string): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('too late')), LOAD_TIMEOUT)
        void load(key).then((value) => {
          clearTimeout(timer)
          running.delete(key)
          resolve(value)
        }, reject)
      })
    const get = async (key: string): Promise<unknown> => {
      const joined = running.get(key) ?? run(key)
      running.set(key, joined)
      return await joined
    }
    return { get, close: async () => undefined }
  },
  /** One load for all callers of a key, under a lease that is renewed while it runs, and known to what its loader asks for; each caller has a wait of its own. */
  'Map of leased loads': async ({ load }) => {
    const leases = new Map<string, Lease>()
    const running = new Map<string, Promise<unknown>>()
    const scope = new AsyncLocalStorage<readonly string[]>()
    const acquire = async (key: string): Promise<Lease> => {
      const lease: Lease = { key, token: `${process.pid}-${leases.size}`, until: performance.now() + LEASE }
      leases.set(key, lease)
      return lease
    }
    const run = async (key: string): Promise<unknown> => {
      const lease = await acquire(key)
      const renewal = setInterval(() => (lease.until = performance.now() + LEASE), LEASE / 2).unref()
      try {
        return await inTime(scope.run([...(scope.getStore() ?? []), key], () => load(key)))
      } finally {
        clearInterval(renewal)
        leases.delete(key)
        running.delete(key)
      }
    }
    const get = (key: string): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const joined = running.get(key) ?? run(key)
        running.set(key, joined)
        joined.then(resolve, reject)
      })
    return { get, close: async () => undefined }
  },
}

interface Lease {
  readonly key: string
  readonly token: string
  until: number
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('too late')), LOAD_TIMEOUT).unref()
  })
  return await Promise.race([work, late]).finally(() => clearTimeout(timer))
}
