import { INVALID, type OptionRule } from './option-rules.ts'

/** Each tag is a key of its own in a shared store, read with every entry that carries it. */
const MOST_TAGS = 100
const LONGEST_TAG = 256

/** What an option named `tags` takes; the same tag twice is one. */
export const tagsRule: OptionRule<readonly string[]> = {
  accepted: `at most ${MOST_TAGS} texts of 1 to ${LONGEST_TAG} characters`,
  parse(value) {
    if (!Array.isArray(value) || value.length > MOST_TAGS) return INVALID
    const tags: string[] = []
    for (const tag of value as readonly unknown[]) {
      if (!isTag(tag)) return INVALID
      if (!tags.includes(tag)) tags.push(tag)
    }
    return tags
  },
}

function isTag(tag: unknown): tag is string {
  return typeof tag === 'string' && tag.length >= 1 && tag.length <= LONGEST_TAG
}
