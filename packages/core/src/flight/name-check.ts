import type { Events } from '../events/events.ts'

/** An object that became a part of a text. */
const OBJECT = '[object Object]'
/** A part of a name that a missing value has left, between colons or at the end. */
const MISSING = /:(?:undefined|null|NaN)(?=:|$)/
/** A separator and a star at the end, or a star alone. */
const PATTERN = /(?:^|[:._|-])\*$/

/** Warns once of a key that many values share by mistake: every object becomes the same text. */
export function warnOfObjectIn(key: string, events: Events): void {
  if (!key.includes(OBJECT)) return
  const message =
    `The key '${key.slice(0, 100)}' has an object in it, whose text is the same for every object: ` +
    'calls for different values share this key. Put a member that names it into the key, such as `user:${user.id}`.'
  events.warnOnce(message, 'CATTLEGRID_OBJECT_IN_KEY')
}

/**
 * Warns once of a key or a tag that is made of a missing value: what differs in that value alone shares
 * the name.
 */
export function warnOfMissingIn(names: readonly string[], events: Events): void {
  const made = names.find((name) => MISSING.test(name))
  if (made === undefined) return
  const message =
    `The name '${made.slice(0, 100)}' is made of a missing value, so other keys or tags than you mean have it. ` +
    'Look at the spelling of the member that the name is made of, such as request.params.id.'
  events.warnOnce(message, 'CATTLEGRID_MISSING_IN_NAME')
}

/** Warns once of a name that is meant for many keys or tags: `verb` takes it as it is. */
export function warnOfPattern(verb: string, names: readonly string[], events: Events): void {
  const pattern = names.find((name) => PATTERN.test(name))
  if (pattern === undefined) return
  const message =
    `${verb} takes names and no patterns: '${pattern.slice(0, 100)}' is the name that ends with a star, and nothing else. ` +
    'Give what belongs together a tag (tags), and invalidate that: cache.invalidateTags([tag]).'
  events.warnOnce(message, 'CATTLEGRID_PATTERN')
}
