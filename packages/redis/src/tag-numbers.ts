import type { RedisKeys } from './redis-keys.ts'
import type { Link } from './link/link.ts'
import { AS_TEXT } from './redis-client.ts'

/** The numbers that the scripts write. */
const TAG_NUMBER = /^\d{1,16}$/
/** The scripts do not increment a number from here on: Lua would round it. */
const MAX_SAFE_NUMBER = 9_007_199_254_740_000

/** Reads the numbers of tags. A value that is no tag number is returned as undefined: whether the tag was invalidated is then unknown. */
export async function readTagNumbers(
  link: Link,
  redisKeys: RedisKeys,
  tags: readonly string[],
): Promise<readonly (number | undefined)[]> {
  const reply = await link.send(redisKeys.tagSequence, ['MGET', ...tags.map((tag) => redisKeys.tag(tag))], AS_TEXT)
  return (reply as readonly unknown[]).map(numberIn)
}

/** Reads the tag sequence. Returns undefined when it is missing, or cannot be incremented. */
export async function readTagSequence(link: Link, redisKeys: RedisKeys): Promise<number | undefined> {
  // MGET returns nil for a key of another type, where GET would fail.
  const [reply] = (await link.send(
    redisKeys.tagSequence,
    ['MGET', redisKeys.tagSequence],
    AS_TEXT,
  )) as readonly unknown[]
  const sequence = numberIn(reply)
  return sequence !== undefined && sequence < MAX_SAFE_NUMBER ? sequence : undefined
}

function numberIn(reply: unknown): number | undefined {
  return typeof reply === 'string' && TAG_NUMBER.test(reply) ? Number(reply) : undefined
}
