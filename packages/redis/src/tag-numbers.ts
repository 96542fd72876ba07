import type { RedisKeys } from './redis-keys.ts'
import type { Link } from './link/link.ts'
import { AS_TEXT } from './redis-client.ts'

/** As the scripts write them. */
const TAG_NUMBER = /^\d{1,16}$/
/** From here on the scripts do not count: a greater number has lost its last digits. */
const COUNTED = 9_007_199_254_740_000

/** The numbers of tags. What is no number of ours counts as none: nobody knows any more whether the tag fell. */
export async function readTagNumbers(
  link: Link,
  names: RedisKeys,
  tags: readonly string[],
): Promise<readonly (number | undefined)[]> {
  const reply = await link.send(names.tagSequence, ['MGET', ...tags.map((tag) => names.tag(tag))], AS_TEXT)
  return (reply as readonly unknown[]).map(numberIn)
}

/** The tag sequence, unless there is none that can be counted on from. */
export async function readTagSequence(link: Link, names: RedisKeys): Promise<number | undefined> {
  // MGET, to which what is no string is nothing.
  const [reply] = (await link.send(names.tagSequence, ['MGET', names.tagSequence], AS_TEXT)) as readonly unknown[]
  const sequence = numberIn(reply)
  return sequence !== undefined && sequence < COUNTED ? sequence : undefined
}

function numberIn(reply: unknown): number | undefined {
  return typeof reply === 'string' && TAG_NUMBER.test(reply) ? Number(reply) : undefined
}
