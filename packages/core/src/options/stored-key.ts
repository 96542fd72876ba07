import { createHash } from 'node:crypto'
import { InvalidKeyError } from '../errors.ts'

/**
 * A longer key is replaced by its digest: it would cost memory in every process and bytes in every command.
 */
const LONGEST_STORED = 1024
const LONGEST_KEY = 65_536
/**
 * The prefix of a digest. A key with this prefix is replaced by its own digest, so that no key can collide
 * with another's digest.
 */
const DIGEST_PREFIX = '%sha256:'
const DIGEST = /^%sha256:[\w-]{43}:/
const PERCENT = DIGEST_PREFIX.charCodeAt(0)
/** Number of characters of a long key that stay readable behind its digest. */
const READABLE = 64

/**
 * The key under which a store gets and keeps the entry of a key: the key itself, or the digest of one that
 * has more than 1,024 characters. A tool that asks a store without a cache needs it.
 *
 * @example
 * import { storedKey } from '@cattlegrid/core/extend'
 *
 * console.log(storedKey('product:7')) // product:7
 * @throws InvalidKeyError for a key that is not a string, or has more than 65,536 characters.
 */
export function storedKey(key: unknown): string {
  return typeof key === 'string' && key.length <= LONGEST_STORED && key.charCodeAt(0) !== PERCENT
    ? key
    : checkedKey(key)
}

/** A separate function, so that V8 can inline the common case. */
function checkedKey(key: unknown): string {
  if (typeof key !== 'string' || key.length > LONGEST_KEY)
    throw new InvalidKeyError(key, `a string of at most ${LONGEST_KEY} characters${cureFor(key)}`)
  if (key.length <= LONGEST_STORED && !key.startsWith(DIGEST_PREFIX)) return key
  // UTF-16, so that every code unit counts: UTF-8 encodes all lone surrogates alike.
  const digest = createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')
  return `${DIGEST_PREFIX}${digest}:${key.slice(0, READABLE)}`
}

/** What to write instead of a key that is no string. */
function cureFor(key: unknown): string {
  if (Array.isArray(key)) return '; getMany, getOrSetMany and deleteMany take a list'
  return typeof key === 'string' ? '' : ', such as `user:${user.id}`'
}

/**
 * True for a key as `storedKey` returns it in place of a long one, and as events and notices name it.
 *
 * @example
 * import { isDigest, storedKey } from '@cattlegrid/core/extend'
 *
 * console.log(isDigest(storedKey('k'.repeat(2000)))) // true
 */
export function isDigest(key: string): boolean {
  return DIGEST.test(key)
}

/** The keys, each once, with their stored keys. @throws InvalidKeyError for anything but an array of keys. */
export function storedKeys(keys: readonly string[]): readonly (readonly [string, string])[] {
  const list: unknown = keys
  if (!Array.isArray(list)) throw new InvalidKeyError(list, "an array of strings, such as ['user:7']")
  return [...new Set(keys)].map((key) => [key, storedKey(key)] as const)
}
