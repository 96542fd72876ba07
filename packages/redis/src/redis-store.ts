import type {
  Acquire,
  AcquireRequest,
  Away,
  Codec,
  Commit,
  Done,
  Ending,
  Inspection,
  Lease,
  NewEntry,
  Notice,
  Read,
  Refused,
  Runtime,
  Store,
  Unkeepable,
  Version,
} from '@cattlegrid/core'
import { clearNamespace } from './clear.ts'
import { encodeEntry } from './encode-entry.ts'
import { FOREIGN_LEASE, type GrantedLease, isGranted, refusalOf } from './granted-lease.ts'
import { inspectKey } from './inspect.ts'
import { Names } from './keys.ts'
import { type RedisStoreOptions, storeSetup } from './options.ts'
import { EXPIRED_BY_HAND, livesOf } from './record.ts'
import { readEntry } from './read-entry.ts'
import { inOurShape, ownClient, type RedisClient } from './redis-client.ts'
import { Scripts } from './scripts.ts'
import { Subscription } from './subscription.ts'

/** How long a client of our own may take to deliver what was sent before `close`. */
const FAREWELL = 1000

/** A tag's number outlives the entries that carry it, the time between noting it and the commit included. */
const TAG_MARGIN = 60_000

const HANDOVER: Ending = { kind: 'handover' }

/**
 * A store on Redis or Valkey, through node-redis. With `client` it never connects or closes anything but a connection of its own for
 * wake-ups; with `url` it keeps a client of its own, which `close` ends.
 *
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function redisStore(options: RedisStoreOptions): Store {
  const { client, url, namespace, runtime } = storeSetup(options)
  return client === undefined
    ? new RedisStore(ownClient(url, runtime), true, namespace, runtime)
    : new RedisStore(client, false, namespace, runtime)
}

class RedisStore implements Store {
  readonly shared = true
  readonly #client: RedisClient
  readonly #ownsClient: boolean
  readonly #names: Names
  readonly #runtime: Runtime
  readonly #scripts: Scripts
  readonly #subscription: Subscription
  readonly #listeners = new Set<(notice: Notice) => void>()
  #watching = false
  #closed = false

  constructor(client: RedisClient, ownsClient: boolean, namespace: string, runtime: Runtime) {
    this.#client = inOurShape(client)
    this.#ownsClient = ownsClient
    this.#names = new Names(namespace)
    this.#runtime = runtime
    this.#scripts = new Scripts(this.#client, this.#names)
    this.#subscription = new Subscription(client, this.#names.channel, (notice) => this.#tell(notice), runtime)
  }

  /** Nothing of Redis is at hand in this process. */
  peek(): undefined {
    return undefined
  }

  read(key: string, codec: Codec): Promise<Read> {
    return this.#ask(() => readEntry(this.#client, this.#names, key, codec, this.#runtime))
  }

  async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    const token = this.#runtime.token()
    const sentAt = this.#runtime.now()
    const answer = await this.#ask(async (): Promise<Acquire> => {
      // Asked for in the same write, so before the load begins: a tag that falls from here on voids its result.
      const tags = request.tags ? this.#scripts.tagNumbers([], 1) : undefined
      const [granted, numbers] = await Promise.all([this.#scripts.acquire(key, token, request), tags])
      if (granted.kind !== 'lead') return granted
      const lease: GrantedLease = {
        key,
        token,
        attempts: granted.attempts,
        sentAt,
        version: granted.version,
        tagSeq: numbers?.sequence ?? 0n,
        endsAt: sentAt + request.duration,
      }
      return { kind: 'lead', lease }
    })
    // Redis may grant it all the same: nobody here would ever end that lease, and nobody may adopt it.
    if (answer.kind === 'away') void this.#ask(() => this.#scripts.release(key, token, HANDOVER))
    return answer
  }

  async renew(lease: Lease, duration: number): Promise<{ readonly kind: 'renewed' } | Refused | Away> {
    if (!isGranted(lease)) return FOREIGN_LEASE
    const sentAt = this.#runtime.now()
    return await this.#ask(async () => {
      const answer = await this.#scripts.renew(lease.key, lease.token, duration)
      if (answer !== 'renewed') return refusalOf(answer, lease, this.#runtime.now())
      lease.endsAt = sentAt + duration
      return { kind: 'renewed' }
    })
  }

  async commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    if (!isGranted(lease)) return FOREIGN_LEASE
    const { key, token, version, tagSeq } = lease
    const record = encodeEntry(entry, codec, version, tagSeq)
    if ('kind' in record) return record
    return await this.#ask(async (): Promise<Commit> => {
      if (entry.tags.length > 0 && (await this.#tagNumbers(entry)).greatest > tagSeq) {
        // Nothing was written, so the lease is still there.
        await this.#scripts.release(key, token, HANDOVER)
        return { kind: 'refused', why: 'tag-voided' }
      }
      const answer = await this.#scripts.commit(key, token, record)
      return answer === 'stored' ? { kind: 'stored', version } : refusalOf(answer, lease, this.#runtime.now())
    })
  }

  async release(lease: Lease, ending: Ending): Promise<{ readonly kind: 'released' } | Refused | Away> {
    if (!isGranted(lease)) return FOREIGN_LEASE
    return await this.#ask(async () => {
      const answer = await this.#scripts.release(lease.key, lease.token, ending)
      return answer === 'released' ? { kind: answer } : refusalOf(answer, lease, this.#runtime.now())
    })
  }

  put(
    key: string,
    entry: NewEntry,
    codec: Codec,
  ): Promise<{ readonly kind: 'stored'; readonly version: Version } | Unkeepable | Away> {
    return this.#ask(async () => {
      // The value is made by now: only a tag that falls from here on voids it.
      const tagSeq = entry.tags.length > 0 ? (await this.#tagNumbers(entry)).sequence : 0n
      const record = encodeEntry(entry, codec, EXPIRED_BY_HAND, tagSeq)
      if ('kind' in record) return record
      const version = await this.#scripts.put(key, this.#runtime.token(), record)
      return { kind: 'stored', version } as const
    })
  }

  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.#ask(async () => {
      await this.#scripts.invalidate(key, how, holdOff)
      return { kind: 'done' } as const
    })
  }

  invalidateTags(tags: readonly string[]): Promise<{ readonly kind: 'done'; readonly tagSeq: number } | Away> {
    return this.#ask(async () => ({ kind: 'done', tagSeq: await this.#scripts.invalidateTags(tags) }) as const)
  }

  clear(): Promise<{ readonly kind: 'cleared'; readonly entries: number } | Away> {
    return this.#ask(
      async () => ({ kind: 'cleared', entries: await clearNamespace(this.#client, this.#names) }) as const,
    )
  }

  inspect(key: string): Promise<Inspection | Away> {
    return this.#ask(() => inspectKey(this.#client, this.#names, key, this.#runtime.now()))
  }

  watch(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    if (!this.#watching) this.#begin()
    else if (this.#subscription.hearing) queueMicrotask(() => listener({ kind: 'hearing' }))
    return () => {
      this.#listeners.delete(listener)
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#listeners.clear()
    this.#subscription.close()
    if (this.#ownsClient) await endClient(this.#client, this.#runtime)
  }

  #begin(): void {
    this.#watching = true
    this.#subscription.start()
    // A moment later, so that whoever made the cache can listen, or connect in the same breath.
    queueMicrotask(() => {
      if (!this.#client.isOpen)
        this.#tell({
          kind: 'warning',
          message: 'The Redis client is not open: `await client.connect()`. Until then every process works on its own.',
        })
    })
  }

  #tell(notice: Notice): void {
    for (const listener of this.#listeners) {
      try {
        listener(notice)
      } catch {
        // A watcher that fails must not keep the notice from the others.
      }
    }
  }

  #tagNumbers(entry: NewEntry): ReturnType<Scripts['tagNumbers']> {
    return this.#scripts.tagNumbers(entry.tags, livesOf(entry).keepFor + TAG_MARGIN)
  }

  /** Everything that goes to Redis goes through here. A client that is not ready would queue it, and send it at a moment nobody knows. */
  async #ask<T>(step: () => Promise<T>): Promise<T | Away> {
    try {
      if (this.#closed) throw new Error('The store is closed')
      if (!this.#client.isReady) throw new Error('The Redis client is not connected')
      return await step()
    } catch (cause) {
      return { kind: 'away', why: 'error', cause }
    }
  }
}

/** Lets what was sent get its reply, but not for longer than a frozen server may hold the process up. */
async function endClient(client: RedisClient, runtime: Runtime): Promise<void> {
  await new Promise<void>((resolve) => {
    const cancel = runtime.schedule(resolve, FAREWELL)
    const settle = (): void => {
      cancel()
      resolve()
    }
    client.close().then(settle, settle)
  })
  try {
    client.destroy()
  } catch {
    // Closed by now.
  }
}
