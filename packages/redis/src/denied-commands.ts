import { isErrorReply } from './link/connection-error.ts'

/** Recognises commands that Redis denies to its user, or does not know under their name, and reports each of them once. */
export class DeniedCommands {
  readonly #reported = new Set<string>()
  readonly #warn: (message: string) => void
  readonly #isOneServer: boolean

  /** `isOneServer`: the store's client follows no redirection of a cluster. */
  constructor(warn: (message: string) => void, isOneServer: boolean) {
    this.#warn = warn
    this.#isOneServer = isOneServer
  }

  /** `source`: the script in which the error occurred, if any. */
  note(error: unknown, source?: string): void {
    if (this.#isOneServer) this.#noteClusterNode(error)
    const command = deniedCommand(error, source)
    if (command === undefined || this.#reported.has(command)) return
    this.#reported.add(command)
    const reason = (error as Error).message
    this.#warn(
      `Redis does not run ${command.toUpperCase()} for this client (${reason}): grant it to the Redis user (+${command}), and do not rename it. ` +
        'docs/redis.md lists the rights that the store needs, because without one it works in part or not at all.',
    )
  }

  #noteClusterNode(error: unknown): void {
    if (!isErrorReply(error) || !/^(?:MOVED|CLUSTERDOWN) /.test(error.message) || this.#reported.has('')) return
    this.#reported.add('')
    this.#warn(
      `The Redis server is one node of a cluster, and does not serve every key (${error.message}): give redisStore the client of a cluster, createCluster() of redis or new Cluster() of ioredis, ` +
        'instead of a url or a client of one server. Until then, each process loads most keys on its own.',
    )
  }
}

/** Returns the name of the command that the server denies or does not know, in lower case; undefined for any other error. */
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
