import type { Runtime, TagNumber } from '@cattlegrid/core/extend'
import type { Link } from '../link/link.ts'
import { serverTime } from '../lua/server-clock.ts'
import type { RedisKeys } from '../redis-keys.ts'

/**
 * What the scripts write for a tag: the number of its last invalidation, then that of its last expiry since,
 * if there was one.
 */
const TAG_NUMBER = /^(\d{1,16})(?: (\d{1,16}))?$/
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
    const [invalidated, expired = 0] = pair
    return { invalidated, expired, expiredAt: expired === 0 ? 0 : momentOf(expired) }
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

function numbersIn(reply: unknown): readonly [invalidated: number, expired?: number] | undefined {
  const [, first, second] = (typeof reply === 'string' ? TAG_NUMBER.exec(reply) : undefined) ?? []
  if (first === undefined) return undefined
  const invalidated = Number(first)
  if (second === undefined) return invalidated < MAX_SAFE_NUMBER ? [invalidated] : undefined
  const expired = Number(second)
  return Math.max(invalidated, expired) < MAX_SAFE_NUMBER ? [invalidated, expired] : undefined
}

/**
 * Reads the server's clock, and returns the moment, on this process's clock, at which the server gave a
 * number: a number is the server's time in microseconds. It is no later than now, though the server's clock
 * may have been set back since.
 */
async function readClock(link: Link, key: string, runtime: Runtime): Promise<(number: number) => number> {
  const sentAt = runtime.now()
  const now = serverTime(await link.send(key, ['TIME'], 'text'))
  return (number) => sentAt - Math.max(0, now - number) / 1000
}
