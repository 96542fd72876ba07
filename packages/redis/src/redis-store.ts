import type {
  Acquire,
  AcquireRequest,
  Away,
  Cleared,
  Codec,
  Commit,
  Done,
  Ending,
  Inspection,
  Lease,
  NewEntry,
  Notice,
  Put,
  Read,
  Released,
  Renewed,
  Runtime,
  Store,
  TagNumbersRead,
  TagsFallen,
} from '@cattlegrid/core'
import { clearNamespace } from './clear.ts'
import { encodeEntry } from './encode-entry.ts'
import { FOREIGN_LEASE, type GrantedLease, isGranted, refusalOf } from './granted-lease.ts'
import { inspectKey } from './inspect.ts'
import { RedisKeys } from './redis-keys.ts'
import type { Link } from './link/link.ts'
import { linkTo } from './link/link-to.ts'
import { type RedisStoreOptions, type RedisStoreSetup, storeSetup } from './options.ts'
import { OwnClient } from './own-client.ts'
import { EXPIRED_BY_HAND, livesOf } from './record.ts'
import { EntryReader } from './read-entry.ts'
import { AS_TEXT } from './redis-client.ts'
import { Scripts } from './scripts.ts'
import { Subscription } from './subscription.ts'
import { readTagNumbers } from './tag-numbers.ts'
import { withTimeout, tagSequence } from './tag-sequence.ts'

/** A tag's number outlives the entries that carry it, the time between noting it and the commit included. */
const TAG_MARGIN = 60_000

const HANDOVER: Ending = { kind: 'handover' }

/**
 * A store on Redis or Valkey, alone, in a cluster or behind Sentinel, through node-redis. With `client` it never connects or closes anything
 * but a connection of its own for wake-ups; with `url` it keeps a client of its own, which `close` ends.
 *
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function redisStore(options: RedisStoreOptions): Store {
  const setup = storeSetup(options)
  const { client, url, runtime, watchdog } = setup
  if (client !== undefined) return new RedisStore(linkTo(client, runtime), undefined, setup)
  const own = new OwnClient(url, runtime, watchdog)
  return new RedisStore(own.link, own, setup)
}

class RedisStore implements Store {
  readonly shared = true
  readonly #link: Link
  readonly #own: OwnClient | undefined
  readonly #names: RedisKeys
  readonly #runtime: Runtime
  readonly #reader: EntryReader
  readonly #scripts: Scripts
  readonly #subscription: Subscription
  readonly #listeners = new Set<(notice: Notice) => void>()
  #watching = false
  #closed = false

  constructor(link: Link, own: OwnClient | undefined, { namespace, runtime, watchdog }: RedisStoreSetup) {
    this.#link = link
    this.#own = own
    this.#names = new RedisKeys(namespace)
    this.#runtime = runtime
    this.#reader = new EntryReader(link, this.#names, runtime)
    this.#scripts = new Scripts(link, this.#names)
    const tell = (notice: Notice): void => this.#tell(notice)
    this.#subscription = new Subscription(link, this.#names.channel, tell, runtime, watchdog)
  }

  /** Nothing of Redis is at hand in this process. */
  peek(): undefined {
    return undefined
  }

  read(key: string, codec: Codec): Promise<Read> {
    try {
      this.#checkReady()
      return this.#reader.read(key, codec)
    } catch (cause) {
      return Promise.resolve(awayBecause(cause))
    }
  }

  async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    const token = this.#runtime.token()
    const sentAt = this.#runtime.now()
    const answer = await this.#ask(async (): Promise<Acquire> => {
      // Asked for in the same write, so before the load begins: a tag that falls from here on voids its result.
      const noting = request.tags ? tagSequence(this.#link, this.#names, this.#scripts) : undefined
      const granted = await this.#scripts.acquire(key, token, request)
      if (granted.kind !== 'lead') return granted
      const tagSeq = noting === undefined ? 0 : await withTimeout(noting, this.#runtime)
      const lease: GrantedLease = {
        key,
        token,
        attempts: granted.attempts,
        sentAt,
        version: granted.version,
        tagSeq,
        endsAt: sentAt + request.duration,
      }
      return { kind: 'lead', lease }
    })
    // Redis may grant it all the same: nobody here would ever end that lease, and nobody may adopt it.
    if (answer.kind === 'away') void this.#ask(() => this.#scripts.release(key, token, HANDOVER))
    return answer
  }

  async renew(lease: Lease, duration: number): Promise<Renewed> {
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
      if (entry.tags.length > 0 && (await this.#noteTags(entry)).greatest > tagSeq) {
        // Nothing was written, so the lease is still there.
        await this.#scripts.release(key, token, HANDOVER)
        return { kind: 'refused', why: 'tag-voided' }
      }
      const answer = await this.#scripts.commit(key, token, record)
      this.#reader.forget(key)
      return answer === 'stored' ? { kind: 'stored', version } : refusalOf(answer, lease, this.#runtime.now())
    })
  }

  async release(lease: Lease, ending: Ending): Promise<Released> {
    if (!isGranted(lease)) return FOREIGN_LEASE
    return await this.#ask(async () => {
      const answer = await this.#scripts.release(lease.key, lease.token, ending)
      return answer === 'released' ? { kind: answer } : refusalOf(answer, lease, this.#runtime.now())
    })
  }

  put(key: string, entry: NewEntry, codec: Codec): Promise<Put> {
    return this.#ask(async () => {
      // The value is made by now: only a tag that falls from here on voids it.
      const tagSeq = entry.tags.length > 0 ? (await this.#noteTags(entry)).sequence : 0
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

  invalidateTags(tags: readonly string[]): Promise<TagsFallen> {
    return this.#ask(async () => ({ kind: 'done', tagSeq: await this.#scripts.invalidateTags(tags) }) as const)
  }

  tagNumbers(tags: readonly string[]): Promise<TagNumbersRead | Away> {
    return this.#ask(
      async () => ({ kind: 'numbers', numbers: await readTagNumbers(this.#link, this.#names, tags) }) as const,
    )
  }

  clear(): Promise<Cleared> {
    return this.#ask(async () => {
      const entries = await clearNamespace(this.#link, this.#names)
      this.#reader.forgetAll()
      return { kind: 'cleared', entries } as const
    })
  }

  inspect(key: string): Promise<Inspection | Away> {
    return this.#ask(() => inspectKey(this.#link, this.#names, key, this.#runtime.now()))
  }

  ping(): Promise<Done> {
    return this.#ask(async () => {
      await this.#link.send(this.#names.tagSequence, ['PING'], AS_TEXT)
      return { kind: 'done' } as const
    })
  }

  watch(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    if (!this.#watching) this.#begin()
    else if (this.#subscription.connected) queueMicrotask(() => listener({ kind: 'connected' }))
    return () => {
      this.#listeners.delete(listener)
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#listeners.clear()
    this.#reader.forgetAll()
    this.#subscription.close()
    await this.#own?.close()
  }

  #begin(): void {
    this.#watching = true
    this.#subscription.start()
    // A moment later, so that whoever made the cache can listen, or connect in the same breath.
    queueMicrotask(() => {
      if (!this.#link.isOpen)
        this.#tell({
          kind: 'warning',
          message: 'The Redis client is not open: `await client.connect()`. Until then every process works on its own.',
        })
    })
  }

  #tell(notice: Notice): void {
    if ('key' in notice) this.#reader.forget(notice.key)
    for (const listener of this.#listeners) {
      try {
        listener(notice)
      } catch {
        // A watcher that fails must not keep the notice from the others.
      }
    }
  }

  #noteTags(entry: NewEntry): ReturnType<Scripts['noteTags']> {
    return this.#scripts.noteTags(entry.tags, livesOf(entry).keepFor + TAG_MARGIN)
  }

  /** Everything that goes to Redis goes through here, but a read, which has a shorter way. */
  async #ask<T>(step: () => Promise<T>): Promise<T | Away> {
    try {
      this.#checkReady()
      return await step()
    } catch (cause) {
      return awayBecause(cause)
    }
  }

  /** A client that is not ready would queue what it is told, and send it at a moment nobody knows. */
  #checkReady(): void {
    if (this.#closed) throw new Error('The store is closed')
    if (!this.#link.isReady) throw new Error('The Redis client is not connected')
  }
}

function awayBecause(cause: unknown): Away {
  return { kind: 'away', why: 'error', cause }
}
