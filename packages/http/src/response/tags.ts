import { type OptionRule, rule } from '@cattlegrid/core/extend'
import { type HeaderFields, linesOf } from '../fields/header-fields.ts'

/** Two of the entry's tags are those of the URL and of the audit. */
export const tagsRule: OptionRule<readonly string[]> = rule.tags(2)

/** The tags in a field such as `Surrogate-Key` or `Cache-Tag`, which CDNs separate by blanks or by commas. */
export function tagsIn(fields: HeaderFields, header: string | undefined): readonly string[] {
  if (header === undefined) return []
  return linesOf(fields, header)
    .flatMap((line) => line.split(/[\s,]+/))
    .filter((tag) => tag !== '')
}

/**
 * All tags of a response; undefined where an entry cannot have them all: an invalidation would not find it.
 */
export function joinTags(...lists: readonly unknown[]): readonly string[] | undefined {
  if (!lists.every(Array.isArray)) return undefined
  return tagsRule.parse(lists.flat())
}
