import { isErrorReply } from './connection-error.ts'

/**
 * Recognises commands that Redis denies to its user, or does not know under their name, and reports each of
 * them once.
 */
export class DeniedCommands {
  readonly #reported = new Set<string>()
  readonly #warn: (message: string) => void
  readonly #isOneServer: boolean
  readonly #keyPattern: string

  /**
   * `isOneServer`: the store's client follows no redirection of a cluster. `keyPattern`: matches every key of
   * the store, in the words of an ACL.
   */
  constructor(warn: (message: string) => void, isOneServer: boolean, keyPattern: string) {
    this.#warn = warn
    this.#isOneServer = isOneServer
    this.#keyPattern = keyPattern
  }

  /** `source`: the script in which the error occurred, if any. */
  note(error: unknown, source?: string): void {
    if (!isErrorReply(error)) return
    const { message } = error
    if (this.#isOneServer && /^(?:MOVED|CLUSTERDOWN) /.test(message))
      this.#warnOnce(
        'a node of a cluster',
        `The Redis server is one node of a cluster, and does not serve every key (${message}): give redisStore the client of a cluster, createCluster() of redis or new Cluster() of ioredis, ` +
          'instead of a url or a client of one server. Until then, each process loads most keys on its own.',
      )
    if (isUnknownForm(message))
      this.#warnOnce(
        'an old server',
        `The Redis server is too old for the store (${message}): use Redis 7 or later, or Valkey. Until then, keys stay unstored, and invalidations may reject.`,
      )
    if (/only .*SUBSCRIBE.* allowed in this context/.test(message))
      this.#warnOnce(
        'a subscriber',
        'The Redis client given to redisStore has subscribed to a channel, so its connection takes no other commands: give redisStore a client of its own, such as ' +
          'client.duplicate(), or make yours with RESP: 3. Until then, each process loads on its own.',
      )
    if (isDeniedKey(message))
      this.#warnOnce(
        'keys',
        `Redis does not let this client use the keys of the store (${message}): grant the Redis user the pattern ${this.#keyPattern}, for reading and for writing. ` +
          'Until then, each process loads on its own.',
      )
    if (message.startsWith('WRONGTYPE '))
      this.#warnOnce(
        'the type of a key',
        `Another program uses a key of the store for a value that is no string (${message}): give the store a namespace that no other program uses (now ${this.#keyPattern.slice(1)}), ` +
          'or cache.delete() the key. Until then, each process loads that key on its own.',
      )
    const command = deniedCommand(error, source)
    if (command === undefined) return
    const rights = command === 'eval' ? '+eval +evalsha' : `+${command}`
    const loss =
      command === 'eval' ? 'Without scripts nothing is stored, and deletes and tag invalidations reject. ' : ''
    this.#warnOnce(
      command,
      `Redis does not run ${command.toUpperCase()} for this client (${message}): grant it to the Redis user (${rights}), and do not rename it. ${loss}` +
        'docs/redis.md lists the rights that the store needs, because without one it works in part or not at all.',
    )
  }

  #warnOnce(about: string, message: string): void {
    if (this.#reported.has(about)) return
    this.#reported.add(about)
    this.#warn(message)
  }
}

/**
 * Returns the name of the command that the server denies or does not know, in lower case; undefined for any
 * other error.
 */
export function deniedCommand(error: unknown, source?: string): string | undefined {
  if (!isErrorReply(error)) return undefined
  const { message } = error
  const [, named] = /^(?:NOPERM .*run the|ERR unknown command) ['`]([^'`|]+)/.exec(message) ?? []
  if (named !== undefined) return named.toLowerCase()
  // In a script the error names the line: the script itself names the command.
  const [, line] =
    /^ERR (?:The user executing the script can't run|Unknown Redis command).* on @user_script:(\d+)/.exec(message) ?? []
  const called = /redis\.p?call\('(\w+)'/.exec(source?.split('\n')[Number(line) - 1] ?? '')
  return called?.[1]?.toLowerCase()
}

/**
 * True where the server knows a command, but not the form in which the store sends it: no version from 7 on
 * answers so. Before 5, scripts that read the time may not write.
 */
function isUnknownForm(message: string): boolean {
  return /^ERR .*(?:wrong number of arg|syntax error|after non.?deterministic commands)/is.test(message)
}

/** In a script, too. The words differ between the versions of Redis, and of Valkey. */
function isDeniedKey(message: string): boolean {
  return /(?:no permissions to access|can't access|cannot access)\b.*\bkeys?\b/i.test(message)
}
