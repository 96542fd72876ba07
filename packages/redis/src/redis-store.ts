import { AsyncResource } from 'node:async_hooks'
import type { Store } from '@cattlegrid/core'
import type { ProcessQuestions } from '@cattlegrid/core/extend'
import { postOn } from './boards.ts'
import { queueOwnMicrotask } from './microtask.ts'
import { clearNamespace } from './entries/clear.ts'
import { inspectKey } from './inspect.ts'
import { linkTo, linkToUrl, type OpenLink } from './link/link-to.ts'
import { awayAfter, type Link } from './link/link.ts'
import { type RedisStoreOptions, type RedisStoreSetup, storeSetup } from './options.ts'
import { probe } from './set-up-check.ts'
import { type StoreParts, storeParts } from './store-parts.ts'
import { readTagNumbers } from './tags/tag-numbers.ts'

/**
 * Creates a store on Redis or Valkey: one server, a cluster, or the master that Sentinel names. With
 * `client`, it never connects or closes that client, and opens one more connection for wake-ups; of an
 * ioredis client it takes the settings, and sends its commands over a connection that it opens, too. With
 * `url`, it creates its own client, which `close` closes. Several caches may use one store: it is closed with
 * the last of them.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { redisStore } from '@cattlegrid/redis'
 *
 * const cache = createCache({ store: redisStore({ url: 'redis://127.0.0.1:6379' }), ttl: '30s' })
 * @throws InvalidOptionError for an unknown option or an invalid value.
 */
export function redisStore(options: RedisStoreOptions): Store & { readonly questions: ProcessQuestions } {
  return openStore(options).store
}

/**
 * The async context of the module: the connections of a store that a request creates would keep that
 * request's context for as long as they last.
 */
const detached = new AsyncResource('cattlegrid.redis')

/** A store, and the link over which it sends its commands. */
export interface LinkedStore {
  readonly store: Store & { readonly questions: ProcessQuestions }
  readonly link: Link
  readonly setup: RedisStoreSetup
}

/** @throws InvalidOptionError as `redisStore`. */
export function openStore(options: RedisStoreOptions): LinkedStore {
  const setup = storeSetup(options)
  return detached.runInAsyncScope(() => linkStore(setup))
}

function linkStore(setup: RedisStoreSetup): LinkedStore {
  const { client, url, runtime, watchdog } = setup
  const warn = (message: string): void => store.warn(message)
  const opened =
    client === undefined ? linkToUrl(url, runtime, watchdog, warn) : linkTo(client, runtime, watchdog, warn)
  const store = new RedisStore(opened, setup)
  return { store, link: opened.link, setup }
}

class RedisStore implements Store {
  readonly shared = true
  readonly partOf: Store['partOf']
  readonly questions: ProcessQuestions
  readonly #parts: StoreParts
  readonly #closeLink: () => Promise<void>
  #closed = false

  constructor({ link, close }: OpenLink, setup: RedisStoreSetup) {
    this.#parts = storeParts(link, setup)
    this.#closeLink = close
    this.questions = this.#parts.questions
    this.partOf = this.#parts.partOf
  }

  get starting(): Promise<void> | undefined {
    const { link } = this.#parts
    return this.#closed || !link.isOpen ? undefined : link.status.starting
  }

  warn(message: string): void {
    this.#parts.notices.announce({ kind: 'warning', message })
  }

  /** Entries in Redis cannot be read synchronously. */
  readonly peek: Store['peek'] = () => undefined

  /** Bypasses the step runner, which would cost each hit one more promise. */
  readonly read: Store['read'] = (key, codec) => {
    const { notices, reader, steps } = this.#parts
    try {
      steps.assertReady()
      notices.follow(key)
      return reader.read(key, codec)
    } catch (cause) {
      return Promise.resolve(awayAfter(cause))
    }
  }

  readonly acquire: Store['acquire'] = (key, request) => {
    const { leases, notices } = this.#parts
    notices.expect(key)
    return leases.acquire(key, request)
  }

  readonly renew: Store['renew'] = (lease, duration) => this.#parts.leases.renew(lease, duration)

  readonly commit: Store['commit'] = (lease, entry, codec) => this.#parts.leases.commit(lease, entry, codec)

  readonly release: Store['release'] = (lease, ending) => this.#parts.leases.release(lease, ending)

  readonly put: Store['put'] = (key, entry, codec, isAbandoned, within) =>
    this.#parts.writes.put(key, entry, codec, { isAbandoned, within })

  readonly invalidate: Store['invalidate'] = (key, how, holdOff) => this.#parts.writes.invalidate(key, how, holdOff)

  readonly invalidateTags: Store['invalidateTags'] = (tags, how, deleteAfter) =>
    this.#parts.writes.invalidateTags(tags, how, deleteAfter)

  readonly tagNumbers: Store['tagNumbers'] = (tags) => {
    const { link, redisKeys, runtime, steps } = this.#parts
    return steps.run(async () => ({
      kind: 'numbers',
      numbers: await readTagNumbers(link, redisKeys, tags, runtime),
    }))
  }

  readonly permitRefresh: Store['permitRefresh'] = (request) => {
    const { scripts, steps } = this.#parts
    return steps.run(async () => {
      const retryAfter = await scripts.permitRefresh(request)
      return retryAfter === 0 ? { kind: 'granted' } : { kind: 'exhausted', retryAfter }
    })
  }

  readonly endRefresh: Store['endRefresh'] = (request, unused) =>
    this.#parts.steps.done(() => this.#parts.scripts.endRefresh(request, unused))

  readonly post: Store['post'] = (post) => this.#parts.steps.run(() => postOn(this.#parts, post))

  readonly clear: Store['clear'] = (isAbandoned) => {
    const { link, reader, redisKeys, steps, writes } = this.#parts
    writes.dropUnfinished()
    return steps.run(async () => {
      const entries = await clearNamespace(link, redisKeys, isAbandoned)
      reader.forgetAll()
      return { kind: 'cleared', entries }
    })
  }

  readonly inspect: Store['inspect'] = (key) => {
    const { link, redisKeys, runtime, steps } = this.#parts
    return steps.run(() => inspectKey(link, redisKeys, key, runtime.now()))
  }

  /** Reads the pause, too, before the answer: a process that waits for it must not serve during a pause. */
  readonly ping: Store['ping'] = () =>
    this.#parts.steps.done(() => Promise.all([probe(this.#parts), this.#parts.pause.read()]))

  readonly watch: Store['watch'] = (listener) => {
    const { notices, pause } = this.#parts
    const unwatch = notices.watch(listener)
    queueOwnMicrotask(() => pause.tell(listener))
    return unwatch
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const { notices, pause, pending, reader, steps } = this.#parts
    pending.close()
    steps.close()
    reader.forgetAll()
    pause.close()
    notices.close()
    await this.#closeLink()
  }
}
