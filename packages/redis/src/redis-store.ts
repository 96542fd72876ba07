import { AsyncResource } from 'node:async_hooks'
import type {
  Acquire,
  AcquireRequest,
  Answers,
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
  RefreshPermitted,
  RefreshRequest,
  Released,
  Renewed,
  Runtime,
  Store,
  StoreNodes,
  TagNumbersRead,
  TagsInvalidated,
} from '@cattlegrid/core'
import { clearNamespace } from './clear.ts'
import { clientSettingsWarning } from './client-settings.ts'
import { DeniedCommands } from './denied-commands.ts'
import { EntryWrites } from './entry-writes.ts'
import { evictionWarning } from './eviction.ts'
import { inspectKey } from './inspect.ts'
import { LeaseSteps } from './lease-steps.ts'
import { awayAfter, type Link } from './link/link.ts'
import { linkTo, linkToUrl, type OpenLink } from './link/link-to.ts'
import { NoticeHub } from './notice-hub.ts'
import { type RedisStoreOptions, type RedisStoreSetup, storeSetup } from './options.ts'
import { PendingReleases } from './pending-releases.ts'
import { EntryReader } from './read-entry.ts'
import { Questions } from './questions.ts'
import { RedisKeys } from './redis-keys.ts'
import { Scripts } from './scripts.ts'
import { ShardedNotices } from './sharded-notices.ts'
import { StepRunner } from './step-runner.ts'
import { storeNodes } from './store-nodes.ts'
import { readTagNumbers } from './tag-numbers.ts'
import { TagSequence } from './tag-sequence.ts'

/**
 * Creates a store on Redis or Valkey: one server, a cluster, or the master that Sentinel names. With `client`, it never connects or closes that client, and
 * opens one more connection for wake-ups; of an ioredis client it takes the settings, and sends its commands over a connection of its own, too. With `url`, it
 * creates its own client, which `close` closes. Several caches may use one store: it is
 * closed with the last of them.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { redisStore } from '@cattlegrid/redis'
 *
 * const cache = createCache({ store: redisStore({ url: 'redis://127.0.0.1:6379' }), ttl: '30s' })
 * @throws InvalidOptionError for an unknown option or an invalid value.
 */
export function redisStore(options: RedisStoreOptions): Store {
  const setup = storeSetup(options)
  return detached.runInAsyncScope(() => openStore(setup))
}

/** The async context of the module: the connections of a store that a request creates would keep that request's context for as long as they last. */
const detached = new AsyncResource('cattlegrid.redis')

function openStore(setup: RedisStoreSetup): Store {
  const { client, url, runtime, watchdog } = setup
  const warn = (message: string): void => store.warn(message)
  const opened =
    client === undefined ? linkToUrl(url, runtime, watchdog, warn) : linkTo(client, runtime, watchdog, warn)
  const store = new RedisStore(opened, setup)
  return store
}

/** A store on a link that the caller has opened; the store closes it. */
export function storeOn(opened: OpenLink, setup: RedisStoreSetup): Store {
  return new RedisStore(opened, setup)
}

class RedisStore implements Store {
  readonly shared = true
  readonly nodes: StoreNodes | undefined
  readonly hears: ((key: string) => boolean) | undefined
  readonly #link: Link
  readonly #closeLink: () => Promise<void>
  readonly #redisKeys: RedisKeys
  readonly #runtime: Runtime
  readonly #scripts: Scripts
  readonly #reader: EntryReader
  readonly #steps: StepRunner
  readonly #pending: PendingReleases
  readonly #leases: LeaseSteps
  readonly #writes: EntryWrites
  readonly #notices: NoticeHub
  readonly #questions: Questions
  readonly #sharded: ShardedNotices | undefined
  readonly #client: RedisStoreSetup['client']
  #isChecked = false
  #closed = false

  constructor({ link, close }: OpenLink, { client, namespace, runtime, watchdog, shardedNotices }: RedisStoreSetup) {
    const redisKeys = new RedisKeys(namespace)
    const denied = new DeniedCommands((message) => this.#notices.announce({ kind: 'warning', message }))
    const scripts = new Scripts(link, redisKeys, denied, shardedNotices)
    const tags = new TagSequence(link, redisKeys, scripts, denied, runtime)
    const reader = new EntryReader(link, redisKeys, runtime, denied)
    this.#client = client
    this.#link = link
    this.nodes = link.nodes && storeNodes(link.nodes, redisKeys, (step) => this.#steps.run(step))
    this.#scripts = scripts
    this.#closeLink = close
    this.#redisKeys = redisKeys
    this.#runtime = runtime
    this.#reader = reader
    this.#steps = new StepRunner(link, denied)
    // The flights of this process that wait for the lease acquire it again.
    this.#pending = new PendingReleases(this.#steps, scripts, runtime, (key) => {
      this.#notices.announce({ kind: 'released', key })
    })
    this.#leases = new LeaseSteps(this.#steps, scripts, tags, runtime, this.#pending, (key) => reader.forget(key))
    this.#writes = new EntryWrites(this.#steps, scripts, tags, runtime, link.nodes !== undefined)
    this.#questions = new Questions({ link, redisKeys, scripts, steps: this.#steps, runtime })
    const onNotice = (notice: Notice): void => {
      if ('key' in notice) reader.forget(notice.key)
      else if (notice.kind === 'connected') this.#checkSetUp()
    }
    const onOther = (message: string): void => this.#questions.receive(message)
    this.#notices = new NoticeHub(link, redisKeys.channel, runtime, watchdog, onNotice, onOther)
    const announce = (notice: Notice): void => this.#notices.announce(notice)
    const sharded =
      shardedNotices && link.nodes !== undefined
        ? new ShardedNotices({ link, nodes: link.nodes, redisKeys, runtime, maxSilence: watchdog, announce })
        : undefined
    this.#sharded = sharded
    this.hears = sharded && ((key) => sharded.hears(key))
  }

  warn(message: string): void {
    this.#notices.announce({ kind: 'warning', message })
  }

  /** Entries in Redis cannot be read synchronously. */
  peek(): undefined {
    return undefined
  }

  /** Bypasses the step runner, which would cost each hit one more promise. */
  read(key: string, codec: Codec): Promise<Read> {
    try {
      this.#steps.assertReady()
      return this.#reader.read(key, codec)
    } catch (cause) {
      return Promise.resolve(awayAfter(cause))
    }
  }

  acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    // Before the acquire: a notice of the end of a lease that is held must find the subscription.
    this.#sharded?.await(key)
    return this.#leases.acquire(key, request)
  }

  renew(lease: Lease, duration: number): Promise<Renewed> {
    return this.#leases.renew(lease, duration)
  }

  commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    return this.#leases.commit(lease, entry, codec)
  }

  release(lease: Lease, ending: Ending): Promise<Released> {
    return this.#leases.release(lease, ending)
  }

  put(key: string, entry: NewEntry, codec: Codec, isAbandoned: () => boolean = () => false): Promise<Put> {
    return this.#writes.put(key, entry, codec, isAbandoned)
  }

  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.#writes.invalidate(key, how, holdOff)
  }

  invalidateTags(tags: readonly string[], how: 'delete' | 'expire'): Promise<TagsInvalidated> {
    return this.#writes.invalidateTags(tags, how)
  }

  tagNumbers(tags: readonly string[]): Promise<TagNumbersRead | Away> {
    return this.#steps.run(async () => {
      const numbers = await readTagNumbers(this.#link, this.#redisKeys, tags, this.#runtime)
      return { kind: 'numbers', numbers } as const
    })
  }

  permitRefresh(request: RefreshRequest): Promise<RefreshPermitted> {
    return this.#steps.run(async () => {
      const retryAfter = await this.#scripts.permitRefresh(request)
      return retryAfter === 0 ? { kind: 'granted' } : { kind: 'exhausted', retryAfter }
    })
  }

  endRefresh(request: RefreshRequest, unused: boolean): Promise<Done> {
    return this.#steps.run(async () => {
      await this.#scripts.endRefresh(request, unused)
      return { kind: 'done' } as const
    })
  }

  clear(): Promise<Cleared> {
    this.#writes.dropUnfinished()
    return this.#steps.run(async () => {
      const entries = await clearNamespace(this.#link, this.#redisKeys)
      this.#reader.forgetAll()
      return { kind: 'cleared', entries } as const
    })
  }

  inspect(key: string): Promise<Inspection | Away> {
    return this.#steps.run(() => inspectKey(this.#link, this.#redisKeys, key, this.#runtime.now()))
  }

  ping(): Promise<Done> {
    return this.#steps.run(async () => {
      await this.#link.send(this.#redisKeys.tagSequence, ['PING'], 'text')
      return { kind: 'done' } as const
    })
  }

  answerQuestions(answer: (question: string) => string | undefined): () => void {
    return this.#questions.answerWith(answer)
  }

  askProcesses(question: string, timeout: number): Promise<Answers | Away> {
    return this.#questions.ask(question, timeout)
  }

  watch(listener: (notice: Notice) => void): () => void {
    return this.#notices.watch(listener)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#pending.close()
    this.#steps.close()
    this.#reader.forgetAll()
    this.#sharded?.close()
    this.#notices.close()
    await this.#closeLink()
  }

  /** Warns once of what would keep the store from working well. */
  #checkSetUp(): void {
    if (this.#isChecked) return
    this.#isChecked = true
    const warnOf = (message: string | undefined): void => {
      if (message !== undefined) this.warn(message)
    }
    const key = this.#redisKeys.tagSequence
    // Every process ignores an empty message. The scripts go on when Redis denies a PUBLISH, so none of them would report that.
    void this.#steps.run(() => this.#link.send(key, ['PUBLISH', this.#redisKeys.channel, ''], 'text'))
    if (this.#client !== undefined) warnOf(clientSettingsWarning(this.#client))
    void evictionWarning(this.#link, key).then(warnOf)
  }
}
