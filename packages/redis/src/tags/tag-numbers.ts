import type { Runtime, TagNumber } from '@cattlegrid/core/extend'
import type { Link } from '../link/link.ts'
import { serverTime } from '../lua/server-clock.ts'
import type { RedisKeys } from '../redis-keys.ts'

/**
 * What the scripts write for a tag: the number of its last invalidation, then that of its last expiry since,
 * if there was one, then the end of that, if it has one, as a number that would be given at that time.
 */
const TAG_NUMBER = /^(\d{1,16})(?: (\d{1,16}))?(?: (\d{1,16}))?$/
/** The scripts do not increment a number from here on: Lua would round it. */
const MAX_SAFE_NUMBER = 9_007_199_254_740_000

/**
 * Reads the numbers of tags. A value that is no tag number is returned as undefined: whether the tag was
 * invalidated is then unknown.
 */
export async function readTagNumbers(
  link: Link,
  redisKeys: RedisKeys,
  tags: readonly string[],
  runtime: Runtime,
): Promise<readonly (TagNumber | undefined)[]> {
  const { tagSequence } = redisKeys
  const reply = await link.send(tagSequence, ['MGET', ...tags.map((tag) => redisKeys.tag(tag))], 'text')
  const pairs = (reply as readonly unknown[]).map(numbersIn)
  const isExpired = pairs.some((pair) => pair?.[1] !== undefined)
  const momentOf = isExpired ? await readClock(link, tagSequence, runtime) : () => 0
  return pairs.map((pair) => {
    if (pair === undefined) return undefined
    const [invalidated, expired = 0, end] = pair
    const goneAt = end === undefined ? Infinity : momentOf(end)
    return { invalidated, expired, expiredAt: expired === 0 ? 0 : Math.min(momentOf(expired), runtime.now()), goneAt }
  })
}

/** Reads the tag sequence. Returns undefined when it is missing, or cannot be incremented. */
export async function readTagSequence(link: Link, redisKeys: RedisKeys): Promise<number | undefined> {
  // MGET returns nil for a key of another type, where GET would fail.
  const [reply] = (await link.send(
    redisKeys.tagSequence,
    ['MGET', redisKeys.tagSequence],
    'text',
  )) as readonly unknown[]
  const [sequence, expired] = numbersIn(reply) ?? []
  return expired === undefined ? sequence : undefined
}

function numbersIn(
  reply: unknown,
): readonly [invalidated: number, expired?: number | undefined, end?: number | undefined] | undefined {
  const [, first, second, third] = (typeof reply === 'string' ? TAG_NUMBER.exec(reply) : undefined) ?? []
  if (first === undefined) return undefined
  const numbers = [first, second ?? 0, third ?? 0].map(Number)
  if (Math.max(...numbers) >= MAX_SAFE_NUMBER) return undefined
  const [invalidated = 0, expired, end] = numbers
  return [invalidated, second === undefined ? undefined : expired, third === undefined ? undefined : end]
}

/**
 * Reads the server's clock, and returns the moment, on this process's clock, of a number: the server's time
 * in microseconds. It may be later than now where the server's clock was set back.
 */
async function readClock(link: Link, key: string, runtime: Runtime): Promise<(number: number) => number> {
  const sentAt = runtime.now()
  const now = serverTime(await link.send(key, ['TIME'], 'text'))
  return (number) => sentAt - (now - number) / 1000
}
