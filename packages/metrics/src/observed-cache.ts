import { type Cache, InvalidOptionError } from '@cattlegrid/core'
import { checkValue, rule } from '@cattlegrid/core/extend'

const cacheRule = rule.object<Cache>('a cache made by createCache()', 'on', 'stats')

/** `owner`: the function that got it. @throws InvalidOptionError for anything but a cache. */
export function requireCache(owner: string, cache: Cache): void {
  checkValue(`${owner}.cache`, cache, cacheRule)
}

/** The error for a second cache of one name, whose figures could not be told from the first one's. */
export function nameTaken(owner: string, name: string, where: string): InvalidOptionError {
  return new InvalidOptionError(
    `${owner}.cache`,
    name,
    `each cache once, with a name that no other open cache of the ${where} has: createCache({ name }), or stop the other one by the function that ${owner} returned`,
  )
}
