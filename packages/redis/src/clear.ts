import type { Names } from './keys.ts'
import { AS_BYTES, AS_TEXT, type RedisClient } from './redis-client.ts'
import { CLEARED } from './wake-message.ts'

const KEYS_A_STEP = '1000'

/**
 * Removes a namespace's leases, then its entries, and returns how many entries there were. In one pass a leader could slip through:
 *
 * 1. the scan passes its entry: nothing there      2. the leader commits, its lease still being there
 * 3. the scan passes its lease and removes it      4. the entry of a load that began before stays
 *
 * Tag numbers stay: without them every entry that carries a tag would be void.
 */
export async function clearNamespace(client: RedisClient, names: Names): Promise<number> {
  const { leases, entries } = names.patterns
  await removeAll(client, leases)
  const removed = await removeAll(client, entries, names.tagSequence)
  await client.sendCommand(['PUBLISH', names.channel, CLEARED], AS_TEXT)
  return removed
}

async function removeAll(client: RedisClient, pattern: string, but?: string): Promise<number> {
  let removed = 0
  let cursor = '0'
  do {
    const reply = await client.sendCommand(['SCAN', cursor, 'MATCH', pattern, 'COUNT', KEYS_A_STEP], AS_BYTES)
    const [next, keys] = reply as readonly [Buffer, readonly Buffer[]]
    cursor = next.toString()
    const doomed = keys.filter((key) => but === undefined || key.toString() !== but)
    if (doomed.length > 0) removed += Number(await client.sendCommand(['UNLINK', ...doomed], AS_TEXT))
  } while (cursor !== '0')
  return removed
}
