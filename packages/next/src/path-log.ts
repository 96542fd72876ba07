import { randomUUID } from 'node:crypto'
import type { Cache } from '@cattlegrid/core'

/** The key of the log. Keys of entries begin with a letter and a colon. */
const KEY = 'paths'
/** Number of paths that the log keeps. */
const PATHS_KEPT = 1000
/** Attempts to write the log; each fails only if another process writes at the same moment. */
const ATTEMPTS = 100
/** What the tags of paths begin with. Next gives them to a request, not to the entries that it uses. */
const PATH_TAG = '_N_T_'

/** The invalidations of paths so far. */
interface Log {
  /** Another one if the log was lost: what was noted before says nothing of it. */
  readonly id: string
  /** The number of the last invalidation. */
  readonly last: number
  /** The greatest number that was dropped: a path that is not listed was not invalidated after it. */
  readonly floor: number
  /** The number of the last invalidation of each path, in their order. */
  readonly paths: ReadonlyMap<string, number>
}

/** A moment between two invalidations of paths, as all processes number them. */
export interface PathMoment {
  readonly log: string
  readonly number: number
}

/**
 * The invalidations of paths, in one order for all processes. An entry does not carry the tags of the paths
 * that use it, so each request judges by its own: an entry is good for a path that was not invalidated since
 * the entry's load began. No clock takes part.
 *
 * The log is an entry of the cache. If it is lost, all entries that paths use count as invalidated.
 */
export class PathLog {
  readonly #cache: Cache
  #writing: Promise<unknown> = Promise.resolve()
  #next: { readonly paths: Set<string>; readonly written: Promise<void> } | undefined

  /** `cache`: a view with a codec that keeps Maps. */
  constructor(cache: Cache) {
    this.#cache = cache.with({ ttl: Infinity, staleWhileRevalidate: 0, jitter: 0, tags: [] })
  }

  /** Now, and the last moment at which one of the tags was invalidated. */
  async read(tags: readonly string[]): Promise<{ readonly now: PathMoment; readonly invalidated: PathMoment }> {
    const { log } = await this.#read()
    const invalidated = Math.max(0, ...tags.map((tag) => log.paths.get(tag) ?? log.floor))
    return { now: { log: log.id, number: log.last }, invalidated: { log: log.id, number: invalidated } }
  }

  /** While the store is away, a log of this process may stand in, which the others do not have. */
  async #read(): Promise<{ readonly log: Log; readonly isShared: boolean }> {
    const { value: log, from, outcome } = await this.#cache.lookup(KEY, emptyLog)
    return { log, isShared: from === 'store' || from === 'near' || outcome?.kind === 'committed' }
  }

  /**
   * Notes that the paths among the tags are invalid from now on. Calls at one time share one write.
   *
   * @throws Error when the log could not be written.
   */
  async add(tags: readonly string[]): Promise<void> {
    const paths = tags.filter(isOfPath)
    if (paths.length === 0) return
    this.#next ??= this.#writeAfter(this.#writing)
    for (const path of paths) this.#next.paths.add(path)
    await this.#next.written
  }

  #writeAfter(last: Promise<unknown>): { readonly paths: Set<string>; readonly written: Promise<void> } {
    const paths = new Set<string>()
    const written = last.then(() => {
      this.#next = undefined
      return this.#write([...paths])
    })
    this.#writing = written.catch(() => undefined)
    return { paths, written }
  }

  async #write(paths: readonly string[]): Promise<void> {
    const { log: before } = await this.#read()
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      // Where another process writes, this call gets the log of that one, which may lack these paths.
      await this.#cache.refresh<Log>(KEY, ({ stale }) => withPaths(stale?.value ?? emptyLog(), paths))
      const { log, isShared } = await this.#read()
      if (isShared && paths.every((path) => isNoted(log, path, before))) return
    }
    throw new Error(`The invalidation of ${paths.join(', ')} could not be stored: call revalidatePath again`)
  }
}

function withPaths({ id, last, floor, paths: known }: Log, added: readonly string[]): Log {
  const paths = new Map(known)
  for (const path of added) {
    paths.delete(path)
    paths.set(path, last + 1)
  }
  const dropped = [...paths].slice(0, Math.max(0, paths.size - PATHS_KEPT))
  for (const [path] of dropped) paths.delete(path)
  return { id, last: last + 1, floor: Math.max(floor, ...dropped.map(([, number]) => number)), paths }
}

/** A log that was lost meanwhile is a new one. */
function isNoted({ id, paths, floor }: Log, path: string, before: Log): boolean {
  return id === before.id ? (paths.get(path) ?? floor) > before.last : paths.has(path)
}

function isOfPath(tag: string): boolean {
  return tag.startsWith(PATH_TAG)
}

function emptyLog(): Log {
  return { id: randomUUID(), last: 0, floor: 0, paths: new Map() }
}
