/**
 * Braces would end the hash tag early, `%` starts an escape, and UTF-8 cannot encode half a surrogate pair.
 */
const UNSAFE = /[%{}]|\p{Surrogate}/gu
/** Matches keys that need no escape: nearly all. */
const SAFE = /^[^%{}\uD800-\uDFFF]+$/
const ESCAPE = /%(?:([0-9A-F]{2})|u([0-9A-F]{4}))/g
/**
 * The escape of the empty key: Redis ignores an empty hash tag, so the names of the key would be in
 * different slots.
 */
const EMPTY = '%00'

/** Escapes any string for use between the braces of a Redis key. Different strings stay different. */
export function escapeKey(key: string): string {
  if (SAFE.test(key)) return key
  return key === '' ? EMPTY : key.replace(UNSAFE, escapeOne)
}

function escapeOne(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase()
  return code.length > 2 ? `%u${code}` : `%${code}`
}

/** Reverses `escapeKey`. Returns undefined for a string that `escapeKey` never returns. */
export function unescapeKey(escaped: string): string | undefined {
  const key =
    escaped === EMPTY
      ? ''
      : escaped.replace(ESCAPE, (_, short: string | undefined, long: string | undefined) =>
          String.fromCharCode(Number.parseInt(short ?? long ?? '', 16)),
        )
  return escapeKey(key) === escaped ? key : undefined
}

/**
 * Every name that a store uses in Redis. All names of one cache key share a hash tag, so that a script may
 * use them together in a cluster; all tag names share another, and so do the two names of the refresh budget.
 * No escaped key is `%tags`, `%refreshes`, `%pause` or `%answers`, so these names never collide with those of
 * a cache key.
 */
export class RedisKeys {
  readonly channel: string
  /** The key of the greatest number that any tag has had. */
  readonly tagSequence: string
  /** The key of the rate of background refreshes. */
  readonly refreshRate: string
  /** The key of the background refreshes that run. */
  readonly runningRefreshes: string
  /** The key of the pause of all processes. */
  readonly pause: string
  readonly #prefix: string

  constructor(namespace: string) {
    this.#prefix = `${namespace}:`
    this.channel = `${namespace}:wake`
    this.tagSequence = `${namespace}:{%tags}`
    this.refreshRate = `${namespace}:{%refreshes}:rate`
    this.runningRefreshes = `${namespace}:{%refreshes}:running`
    this.pause = `${namespace}:{%pause}:for`
  }

  /** A board: on the server of the refresh budget. */
  board(board: string): string {
    return `${this.#prefix}{%refreshes}:board:${board}`
  }

  /** The list of the answers to a question. */
  answers(question: string): string {
    return `${this.#prefix}{%answers}:${question}`
  }

  entry(key: string): string {
    return `${this.#prefix}{${escapeKey(key)}}`
  }

  /** The key whose entry has this name; undefined for any other name. */
  keyOf(name: string): string | undefined {
    if (!name.startsWith(`${this.#prefix}{`) || !name.endsWith('}')) return undefined
    return unescapeKey(name.slice(this.#prefix.length + 1, -1))
  }

  lease(key: string): string {
    return `${this.entry(key)}:l`
  }

  /** The key of a long record until its commit. */
  temporary(key: string, token: string): string {
    return `${this.entry(key)}:t:${token}`
  }

  tag(tag: string): string {
    return `${this.tagSequence}:n:${escapeKey(tag)}`
  }

  /** The SCAN patterns for all leases and for all entries; the second also matches the tag sequence. */
  get patterns(): { readonly leases: string; readonly entries: string } {
    const prefix = this.#prefix.replace(/[\\?*[\]]/g, String.raw`\$&`)
    return { leases: `${prefix}{*}:l`, entries: `${prefix}{*}` }
  }
}
