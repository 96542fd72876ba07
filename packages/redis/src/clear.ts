import type { RedisKeys } from './redis-keys.ts'
import type { KeyGroup, Link, Server } from './link/link.ts'
import { AS_BYTES, AS_TEXT } from './redis-client.ts'
import { CLEARED } from './wake-message.ts'

const KEYS_A_STEP = '1000'

/**
 * Removes a namespace's leases, then its entries, and returns how many entries there were. In one pass a leader could slip through:
 *
 * 1. the scan passes its entry: nothing there      2. the leader commits, its lease still being there
 * 3. the scan passes its lease and removes it      4. the entry of a load that began before stays
 *
 * Each master by itself: an entry and its lease are on the same one. Tag numbers stay: without them every entry that carries a tag would be void.
 */
export async function clearNamespace(link: Link, names: RedisKeys): Promise<number> {
  const { leases, entries } = names.patterns
  const removed = await Promise.all(
    link.masters().map(async (master) => {
      await removeAll(link, master, leases)
      return await removeAll(link, master, entries, names.tagSequence)
    }),
  )
  await link.send(names.tagSequence, ['PUBLISH', names.channel, CLEARED], AS_TEXT)
  return removed.reduce((sum, count) => sum + count, 0)
}

async function removeAll(link: Link, master: Server, pattern: string, but?: string): Promise<number> {
  let removed = 0
  let cursor = '0'
  do {
    const reply = await master.sendCommand(['SCAN', cursor, 'MATCH', pattern, 'COUNT', KEYS_A_STEP], AS_BYTES)
    const [next, keys] = reply as readonly [Buffer, readonly Buffer[]]
    cursor = next.toString()
    const doomed = keys.filter((key) => but === undefined || key.toString() !== but)
    const counts = await Promise.all(link.grouped(doomed).map((group) => unlink(link, group)))
    removed += counts.reduce((sum, count) => sum + count, 0)
  } while (cursor !== '0')
  return removed
}

async function unlink(link: Link, keys: KeyGroup): Promise<number> {
  return Number(await link.send(keys[0].toString(), ['UNLINK', ...keys], AS_TEXT))
}
