/** Braces would cut the hash tag short, `%` marks an escape, and UTF-8 has no bytes for half a surrogate pair. */
const UNSAFE = /[%{}]|\p{Surrogate}/gu
/** As nearly all keys are. */
const SAFE = /^[^%{}\uD800-\uDFFF]+$/
const ESCAPE = /%(?:([0-9A-F]{2})|u([0-9A-F]{4}))/g
/** An empty hash tag is no hash tag: its keys would lie in different slots. */
const EMPTY = '%00'

/** Turns any string into one that may stand between the braces of a Redis key; no two become the same. */
export function escapeKey(key: string): string {
  if (SAFE.test(key)) return key
  return key === '' ? EMPTY : key.replace(UNSAFE, escapeOne)
}

function escapeOne(character: string): string {
  const code = character.charCodeAt(0).toString(16).toUpperCase()
  return code.length > 2 ? `%u${code}` : `%${code}`
}

/** The key that `escapeKey` turned into `escaped`, or undefined when it turns no key into that. */
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
 * Every name that a store uses in Redis. What belongs to one key shares a hash tag, so that a script may touch it in a cluster; so do all
 * tags. No escaped key begins with `%tags`, so the tags meet nobody's entry.
 */
export class RedisKeys {
  readonly channel: string
  /** The greatest number that any tag has had. */
  readonly tagSequence: string
  readonly #prefix: string

  constructor(namespace: string) {
    this.#prefix = `${namespace}:`
    this.channel = `${namespace}:wake`
    this.tagSequence = `${namespace}:{%tags}`
  }

  entry(key: string): string {
    return `${this.#prefix}{${escapeKey(key)}}`
  }

  lease(key: string): string {
    return `${this.entry(key)}:l`
  }

  /** Where a long record waits for its commit. */
  temporary(key: string, token: string): string {
    return `${this.entry(key)}:t:${token}`
  }

  tag(tag: string): string {
    return `${this.tagSequence}:n:${escapeKey(tag)}`
  }

  /** SCAN patterns: every lease, every entry (and the tag sequence). */
  get patterns(): { readonly leases: string; readonly entries: string } {
    const prefix = this.#prefix.replace(/[\\?*[\]]/g, String.raw`\$&`)
    return { leases: `${prefix}{*}:l`, entries: `${prefix}{*}` }
  }
}
