import { INVALID, type OptionRule } from '@cattlegrid/core'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'

/** The engine keeps no more for one entry; one place is ours, for the URL. */
const MOST_TAGS = 99
const LONGEST_TAG = 256

/** What an option that holds tags takes. */
export const tagsRule: OptionRule<readonly string[]> = {
  accepted: `at most ${MOST_TAGS} texts of 1 to ${LONGEST_TAG} characters`,
  parse: (value) => (isTags(value) ? [...new Set(value)] : INVALID),
}

function isTags(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length <= MOST_TAGS && value.every(isTag)
}

function isTag(tag: unknown): tag is string {
  return typeof tag === 'string' && tag.length >= 1 && tag.length <= LONGEST_TAG
}

/** The names in a field such as `Surrogate-Key` or `Cache-Tag`: CDNs separate them by blanks, or by commas. */
export function tagsIn(fields: HeaderFields, header: string | undefined): readonly string[] {
  if (header === undefined) return []
  return linesOf(fields, header)
    .flatMap((line) => line.split(/[\s,]+/))
    .filter((tag) => tag !== '')
}

/** All tags of one answer; undefined where they are none that an entry can have: it could not be found again by them. */
export function joinTags(...lists: readonly unknown[]): readonly string[] | undefined {
  if (!lists.every(isTags)) return undefined
  const all = tagsRule.parse(lists.flat())
  return all === INVALID ? undefined : all
}
