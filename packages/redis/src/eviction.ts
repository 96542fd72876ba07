import type { Link } from './link/link.ts'

/** A warning if the server evicts leases before entries; undefined otherwise, or if it does not say. `key` names the master to ask. */
export async function evictionWarning(link: Link, key: string): Promise<string | undefined> {
  const memory = await memoryOf(link, key)
  if (!/^maxmemory_policy:volatile-ttl\r?$/m.test(memory) || /^maxmemory:0\r?$/m.test(memory)) return undefined
  return (
    'Redis has `maxmemory-policy volatile-ttl`, which evicts leases first, because they expire soonest: when its memory is full, nothing is stored, and each ' +
    'process loads on its own. Set `allkeys-lru` or `allkeys-lfu`; docs/redis.md says more.'
  )
}

async function memoryOf(link: Link, key: string): Promise<string> {
  try {
    return String(await link.send(key, ['INFO', 'memory'], 'text'))
  } catch {
    // Not every user may ask, and not every service answers; the store needs it for nothing else.
    return ''
  }
}
