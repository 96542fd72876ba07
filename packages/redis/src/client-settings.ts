import type { AnyRedisClient } from './link/link-to.ts'
import { DEFAULT_NAMESPACE } from './options.ts'

/** The options of a client of node-redis that can keep the store from working. */
interface ClientSettings {
  readonly keyPrefix?: unknown
  readonly redisOptions?: { readonly keyPrefix?: unknown }
  readonly commandsQueueMaxLength?: unknown
  readonly socket?: { readonly socketTimeout?: unknown; readonly reconnectStrategy?: unknown }
}

/**
 * A burst sends as many commands at once: at most 512 steps of up to three commands each, and the renewals
 * of leases.
 */
const BURST = 2048

const PAGE = 'docs/redis.md explains the settings'

/**
 * One warning that names all settings of the user's client with which the store works badly; undefined if
 * there are none, or if they cannot be read.
 */
export function clientSettingsWarning(client: AnyRedisClient, namespace: string): string | undefined {
  const settings = settingsOf(client)
  const problems = settings === undefined ? [] : [...prefixProblem(settings, namespace), ...problemsOf(settings)]
  return problems.length === 0 ? undefined : `The Redis client given to redisStore: ${problems.join('; ')}. ${PAGE}.`
}

/** A cluster has no options to read: those of its nodes are read once it is connected. */
function settingsOf(client: object): ClientSettings | undefined {
  if ('masters' in client) {
    const { masters } = client as { readonly masters: readonly { readonly client?: object | undefined }[] }
    const connected = masters.find((node) => node.client !== undefined)?.client
    return connected && settingsOf(connected)
  }
  // ioredis has options of other names, and the store's own connections have other settings.
  return (client as { readonly options?: ClientSettings }).options
}

/**
 * Two apps that differ in their prefix alone would share the entries of the namespace that both have
 * by default.
 */
function prefixProblem({ keyPrefix, redisOptions }: ClientSettings, namespace: string): readonly string[] {
  const prefix = keyPrefix ?? redisOptions?.keyPrefix
  if (typeof prefix !== 'string' || prefix === '' || namespace !== DEFAULT_NAMESPACE) return []
  return [
    `\`keyPrefix: '${prefix}'\` does not count for the keys of the store, which begin with its namespace, '${namespace}': give redisStore a \`namespace\` that no other app has`,
  ]
}

function problemsOf({ commandsQueueMaxLength, socket }: ClientSettings): readonly string[] {
  const { socketTimeout, reconnectStrategy } = socket ?? {}
  const problems: string[] = []
  if (reconnectStrategy === false)
    problems.push(
      '`socket.reconnectStrategy: false` ends it with the first lost connection, and each process then loads on its own: give a function, or leave it out',
    )
  if (typeof socketTimeout === 'number' && socketTimeout > 0 && reconnectStrategy === undefined)
    problems.push(
      `\`socket.socketTimeout\` without a \`reconnectStrategy\` ends it after ${socketTimeout} ms in which nothing was sent or received, and each process then loads on its own: ` +
        'give a function, such as `(retries) => Math.min(50 * 2 ** retries, 1000)`, or leave `socketTimeout` out',
    )
  if (typeof commandsQueueMaxLength === 'number' && commandsQueueMaxLength < BURST)
    problems.push(
      `\`commandsQueueMaxLength: ${commandsQueueMaxLength}\` refuses most of a burst, whose values are then not stored: give at least ${BURST}, or leave it out`,
    )
  return problems
}
