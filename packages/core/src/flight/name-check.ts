import type { Events } from '../events/events.ts'

/** An object that became a part of a text. */
const OBJECT = '[object Object]'
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

/** Warns once of a name that is meant for many keys or tags: `verb` takes it as it is. */
export function warnOfPattern(verb: string, names: readonly string[], events: Events): void {
  const pattern = names.find((name) => PATTERN.test(name))
  if (pattern === undefined) return
  const message =
    `${verb} takes names and no patterns: '${pattern.slice(0, 100)}' is the name that ends with a star, and nothing else. ` +
    'Give what belongs together a tag (tags), and invalidate that: cache.invalidateTags([tag]).'
  events.warnOnce(message, 'CATTLEGRID_PATTERN')
}
