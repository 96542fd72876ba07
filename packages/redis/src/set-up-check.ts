import { clientSettingsWarning } from './client-settings.ts'
import type { Link } from './link/link.ts'
import type { StepParts } from './lua/scripts.ts'
import type { RedisStoreSetup } from './options.ts'

/**
 * Rejects where the server serves no steps although it answers: it runs no scripts, is too old, or is one
 * node of a cluster, which refuses the keys of others. Over a client of one server, three slots are asked.
 */
export async function probe({ link, redisKeys, clocks, scripts }: StepParts): Promise<void> {
  const names = link.nodes === undefined ? [redisKeys.tagSequence, redisKeys.refreshRate, redisKeys.entry('')] : []
  const asked = names.map((name) => link.send(name, ['EXISTS', name], 'text'))
  await Promise.all([clocks.ping(redisKeys.tagSequence), scripts.probe(), ...asked])
}

/** Warns of what would keep the store from working well. */
export function checkSetUp(
  parts: StepParts,
  { client, namespace }: RedisStoreSetup,
  warn: (message: string) => void,
): void {
  const { link, redisKeys, steps } = parts
  const warnOf = (message: string | undefined): void => {
    if (message !== undefined) warn(message)
  }
  const key = redisKeys.tagSequence
  // What it meets is told once, as that of any step.
  void steps.run(() => probe(parts))
  // Every process ignores an empty message. The scripts go on when Redis denies a PUBLISH, so none of them
  // would report that.
  void steps.run(() => link.send(key, ['PUBLISH', redisKeys.channel, ''], 'text'))
  if (client !== undefined) warnOf(clientSettingsWarning(client, namespace))
  void evictionWarning(link, key).then(warnOf)
}

/**
 * A warning if the server evicts leases before entries; undefined otherwise, or if it does not say. `key`
 * names the master to ask.
 */
async function evictionWarning(link: Link, key: string): Promise<string | undefined> {
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
