import { clientSettingsWarning } from './client-settings.ts'
import { evictionWarning } from './eviction.ts'
import type { Link } from './link/link.ts'
import type { RedisStoreSetup } from './options.ts'
import type { RedisKeys } from './redis-keys.ts'
import type { Scripts } from './scripts.ts'
import type { ServerClocks } from './server-clock.ts'
import type { StepRunner } from './step-runner.ts'

export interface Probed {
  readonly link: Link
  readonly redisKeys: RedisKeys
  readonly clocks: ServerClocks
  readonly scripts: Scripts
}

export interface SetUpCheck extends Probed {
  readonly steps: StepRunner
  readonly client: RedisStoreSetup['client']
  readonly namespace: string
  readonly warn: (message: string) => void
}

/**
 * Rejects where the server serves no steps although it answers: it runs no scripts, is too old, or is one node of a cluster, which refuses the keys of others.
 * Over a client of one server, three slots are asked.
 */
export async function probe({ link, redisKeys, clocks, scripts }: Probed): Promise<void> {
  const names = link.nodes === undefined ? [redisKeys.tagSequence, redisKeys.refreshRate, redisKeys.entry('')] : []
  const asked = names.map((name) => link.send(name, ['EXISTS', name], 'text'))
  await Promise.all([clocks.ping(redisKeys.tagSequence), scripts.probe(), ...asked])
}

/** Warns of what would keep the store from working well. */
export function checkSetUp(setUp: SetUpCheck): void {
  const { link, redisKeys, steps, client, namespace, warn } = setUp
  const warnOf = (message: string | undefined): void => {
    if (message !== undefined) warn(message)
  }
  const key = redisKeys.tagSequence
  // What it meets is told once, as that of any step.
  void steps.run(() => probe(setUp))
  // Every process ignores an empty message. The scripts go on when Redis denies a PUBLISH, so none of them would report that.
  void steps.run(() => link.send(key, ['PUBLISH', redisKeys.channel, ''], 'text'))
  if (client !== undefined) warnOf(clientSettingsWarning(client, namespace))
  void evictionWarning(link, key).then(warnOf)
}
