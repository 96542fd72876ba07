import type { Entry } from '../entry.ts'
import { makeEntry } from '../entry.ts'
import type { TagNumber } from './answers.ts'

/**
 * The moment at which its tags ended the freshness of an entry: `Infinity` if none did. Undefined if one of
 * them was invalidated since the entry's load began, or has no number: the entry is then unusable.
 */
export function tagExpiry(
  { tags, tagSeq }: Pick<Entry, 'tags' | 'tagSeq'>,
  numberOf: (tag: string, index: number) => TagNumber | undefined,
): number | undefined {
  let moment = Infinity
  for (let index = 0; index < tags.length; index += 1) {
    const number = numberOf(tags[index] ?? '', index)
    if (number === undefined || number.invalidated > tagSeq) return undefined
    if (number.expired > tagSeq) moment = Math.min(moment, number.expiredAt)
  }
  return moment
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

/** The entry by the result of `tagExpiry`. Its version does not change: it is the same write. */
export function expireAt(entry: Entry, moment: number | undefined): Entry | undefined {
  if (moment === undefined) return undefined
  if (moment === Infinity) return entry
  const { version, committedAt, loadTime, tagSeq, size } = entry
  const freshUntil = freshUntilExpiry(entry, moment)
  return makeEntry(entry, { version, committedAt, freshUntil, expired: true, loadTime, tagSeq, size }, entry.from)
}
