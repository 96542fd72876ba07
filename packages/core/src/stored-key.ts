import { createHash } from 'node:crypto'
import { InvalidKeyError } from './errors.ts'

/** Longer ones would cost memory in every process and a copy in every command: they go by their digest. */
const LONGEST_STORED = 1024
const LONGEST = 65_536
/** What a digest stands behind. A key that begins like one goes by its own digest, so that nobody can name another's. */
const DIGEST = '%sha256:'
/** Of its first character. */
const PERCENT = DIGEST.charCodeAt(0)
/** How much of a long key is left to be recognised by. */
const SHOWN = 64

/**
 * The name that an entry is kept by: the key itself, or the digest of one that has more than 1,024 characters.
 *
 * @throws InvalidKeyError
 */
export function storedKey(key: unknown): string {
  return typeof key === 'string' && key.length <= LONGEST_STORED && key.charCodeAt(0) !== PERCENT ? key : unusual(key)
}

/** Apart, so that the way of nearly every key stays short enough for the compiler to take it into its callers. */
function unusual(key: unknown): string {
  if (typeof key !== 'string' || key.length > LONGEST)
    throw new InvalidKeyError(key, `a string of at most ${LONGEST} characters`)
  if (key.length <= LONGEST_STORED && !key.startsWith(DIGEST)) return key
  // Every code unit counts: UTF-8 would make one of all halves of surrogate pairs.
  const digest = createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')
  return `${DIGEST}${digest}:${key.slice(0, SHOWN)}`
}

/** Several keys, each once. */
export function uniqueKeys(keys: readonly string[]): readonly string[] {
  const list: unknown = keys
  if (!Array.isArray(list)) throw new InvalidKeyError(list, 'an array of strings')
  return [...new Set(keys)]
}
