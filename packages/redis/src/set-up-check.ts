import { clientSettingsWarning } from './client-settings.ts'
import { evictionWarning } from './eviction.ts'
import type { Link } from './link/link.ts'
import type { RedisStoreSetup } from './options.ts'
import type { RedisKeys } from './redis-keys.ts'
import type { StepRunner } from './step-runner.ts'

export interface SetUpCheck {
  readonly link: Link
  readonly redisKeys: RedisKeys
  readonly steps: StepRunner
  readonly client: RedisStoreSetup['client']
  readonly namespace: string
  readonly warn: (message: string) => void
}

/** Warns of what would keep the store from working well. */
export function checkSetUp({ link, redisKeys, steps, client, namespace, warn }: SetUpCheck): void {
  const warnOf = (message: string | undefined): void => {
    if (message !== undefined) warn(message)
  }
  const key = redisKeys.tagSequence
  // Every process ignores an empty message. The scripts go on when Redis denies a PUBLISH, so none of them would report that.
  void steps.run(() => link.send(key, ['PUBLISH', redisKeys.channel, ''], 'text'))
  if (client !== undefined) warnOf(clientSettingsWarning(client, namespace))
  void evictionWarning(link, key).then(warnOf)
}
