import { digestOf } from './digest.ts'

/** What the cache takes. */
const MOST_TAGS = 100
const LONGEST = 256

/** The names under which an entry carries its tags. */
export function tagsOfEntry(tags: readonly string[]): readonly string[] {
  const names = [...new Set(tags)].filter((tag) => tag !== '')
  return names.length <= MOST_TAGS ? names.map(tagName) : [...new Set(names.map(groupOf))]
}

/** The names to invalidate for these tags: their own, and their groups. */
export function tagsToInvalidate(tags: readonly string[]): readonly string[] {
  return [...new Set(tags.flatMap((tag) => (tag === '' ? [] : [tagName(tag), groupOf(tag)])))]
}

function tagName(tag: string): string {
  return tag.length <= LONGEST && !tag.startsWith('%') ? tag : `%tag:${digestOf(tag)}`
}

/** One of 64 groups: an entry with too many tags carries their groups instead. */
function groupOf(tag: string): string {
  return `%group:${digestOf(tag).slice(0, 1)}`
}
