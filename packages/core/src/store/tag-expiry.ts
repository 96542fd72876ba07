import { type Entry, makeEntry } from '../entry.ts'
import type { TagNumber } from './answers.ts'

/** The moment at which its tags ended the freshness of an entry, and that from which it is unusable. */
export type TagExpiry = Pick<TagNumber, 'expiredAt' | 'goneAt'>

const NEVER: TagExpiry = { expiredAt: Infinity, goneAt: Infinity }

/**
 * How its tags have expired an entry. Undefined if one of them was invalidated since the entry's load began,
 * or has no number: the entry is then unusable.
 */
export function tagExpiry(
  { tags, tagSeq }: Pick<Entry, 'tags' | 'tagSeq'>,
  numberOf: (tag: string, index: number) => TagNumber | undefined,
): TagExpiry | undefined {
  let expiry = NEVER
  for (let index = 0; index < tags.length; index += 1) {
    const number = numberOf(tags[index] ?? '', index)
    if (number === undefined || number.invalidated > tagSeq) return undefined
    if (number.expired > tagSeq)
      expiry = {
        expiredAt: Math.min(expiry.expiredAt, number.expiredAt),
        goneAt: Math.min(expiry.goneAt, number.goneAt),
      }
  }
  return expiry
}

/**
 * The end of freshness of an entry that was expired at `moment`: no later than its own, and no earlier than
 * its commit, because its load may have begun before.
 */
export function freshUntilExpiry({ committedAt, freshUntil }: Entry, moment: number): number {
  return Math.min(freshUntil, Math.max(committedAt, Math.floor(moment)))
}

/**
 * The entry as its tags leave it: itself, stale, or undefined where it is unusable. `numbers`: those of its
 * tags, in their order.
 *
 * @example
 * import { type Entry, judgeTags, type TagNumber } from '@cattlegrid/core/extend'
 *
 * const usable = (entry: Entry, numbers: TagNumber[]): boolean => judgeTags(entry, numbers) !== undefined
 */
export function judgeTags(entry: Entry, numbers: readonly (TagNumber | undefined)[]): Entry | undefined {
  return expireAt(
    entry,
    tagExpiry(entry, (_, index) => numbers[index]),
  )
}

/** The entry by the result of `tagExpiry`: its windows end where the expiry does, and its version stays. */
export function expireAt(entry: Entry, expiry: TagExpiry | undefined): Entry | undefined {
  if (expiry === undefined) return undefined
  if (expiry.expiredAt === Infinity) return entry
  const { version, committedAt, loadTime, tagSeq, size } = entry
  const freshUntil = freshUntilExpiry(entry, expiry.expiredAt)
  const { value, encoded, tags } = entry
  const content = { value, encoded, tags, ...windowsUntil(entry, expiry.goneAt - freshUntil) }
  return makeEntry(content, { version, committedAt, freshUntil, expired: true, loadTime, tagSeq, size }, entry.from)
}

/** The stale windows of an entry, none of which is longer than `longest` ms. */
export function windowsUntil(
  { staleWhileRevalidate, staleIfError }: Entry,
  longest: number,
): Pick<Entry, 'staleWhileRevalidate' | 'staleIfError'> {
  const most = Math.max(0, longest)
  return {
    staleWhileRevalidate: Math.min(staleWhileRevalidate, most),
    staleIfError: Math.min(staleIfError, most),
  }
}
