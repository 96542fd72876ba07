import type { Server } from '../link/client.ts'
import type { Link } from '../link/link.ts'
import { CLEARED } from '../notices/wake-message.ts'
import type { RedisKeys } from '../redis-keys.ts'

const KEYS_PER_SCAN = '1000'

/**
 * Removes a namespace's leases, then its entries, and returns the number of entries removed. With a single
 * pass, an old value could survive:
 *
 * 1. the scan passes the entry's place: no entry yet      2. the leader commits; its lease is still there
 * 3. the scan reaches the lease and removes it            4. an entry remains whose load began before the clear
 *
 * Masters are cleared independently: an entry and its lease are always on the same one. The tag sequence and
 * the tag numbers stay: an entry is void when the number of one of its tags is missing.
 *
 * @throws Error for a clear that has been given up: its answer came too late.
 */
export async function clearNamespace(
  link: Link,
  redisKeys: RedisKeys,
  isAbandoned: () => boolean = () => false,
): Promise<number> {
  const { leases, entries } = redisKeys.patterns
  // Comes before each command, once the one before is answered.
  const goOn = (): void => {
    if (isAbandoned()) throw new Error('Not cleared: a command of it was answered too late')
  }
  const removed = await Promise.all(
    link.masters().map(async (master) => {
      await removeAll(link, master, goOn, leases)
      return await removeAll(link, master, goOn, entries, redisKeys.tagSequence)
    }),
  )
  goOn()
  await link.send(redisKeys.tagSequence, ['PUBLISH', redisKeys.channel, CLEARED], 'text')
  return removed.reduce((sum, count) => sum + count, 0)
}

async function removeAll(
  link: Link,
  master: Server,
  goOn: () => void,
  pattern: string,
  except?: string,
): Promise<number> {
  let removed = 0
  let cursor = '0'
  do {
    goOn()
    const reply = await master.send(['SCAN', cursor, 'MATCH', pattern, 'COUNT', KEYS_PER_SCAN], 'bytes')
    const [next, keys] = reply as readonly [Buffer, readonly Buffer[]]
    cursor = next.toString()
    const removable = keys.filter((key) => except === undefined || key.toString() !== except)
    goOn()
    // A command cannot name two keys of a cluster.
    const groups = link.nodes === undefined ? [removable] : removable.map((key) => [key])
    const counts = await Promise.all(groups.map((group) => unlink(link, group)))
    removed += counts.reduce((sum, count) => sum + count, 0)
  } while (cursor !== '0')
  return removed
}

async function unlink(link: Link, keys: readonly Buffer[]): Promise<number> {
  const [first] = keys
  return first === undefined ? 0 : Number(await link.send(first.toString(), ['UNLINK', ...keys], 'text'))
}
