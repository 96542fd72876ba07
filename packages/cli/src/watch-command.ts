import { type CancelTimer, formatDuration, type Notice } from '@cattlegrid/core/extend'
import type { CommandContext, Command } from './command.ts'
import { CommandError } from './command-error.ts'
import { warnOfEmptyNamespace } from './namespaces.ts'
import { jsonLine, displayKey, displayKeys, escapeControls } from './print.ts'

const KIND_WIDTH = 'committed'.length
/** The time of day, in the time zone of this process. */
const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})

export const watchCommand: Command = {
  name: 'watch',
  operands: 'none',
  summary: 'prints the notices of all processes as they arrive, until Ctrl-C',
  details: `One line for each set, delete, expire, clear and tag invalidation in the namespace, and for each commit
and release that a caller waited for. Other commits and releases are not published.
If the connection is lost, watch says so and reconnects. Notices in between are not shown.
--timeout limits the wait for the connection, and how long the server may answer nothing before watch says so.`,
  async run(context) {
    const ended = context.terminal.interrupted()
    const watch = new Watch(context)
    await Promise.race([watch.start(), ended])
    await ended
    watch.stop()
  },
}

class Watch {
  readonly #context: CommandContext
  #connected = false
  #silent = false
  #stopListening: (() => void) | undefined
  #pingTimer: CancelTimer | undefined

  constructor(context: CommandContext) {
    this.#context = context
  }

  /** Resolves once the store is subscribed. @throws CommandError when that takes too long or is refused. */
  async start(): Promise<void> {
    const { connection, terminal } = this.#context
    const subscribed = new Promise<void>((resolve, reject) => {
      this.#stopListening = connection.watch((notice) => {
        if (notice.kind === 'connected') resolve()
        if (notice.kind === 'warning' && !this.#connected) {
          reject(new CommandError(1, notice.message, 'Name a Redis user in the URL that may subscribe.'))
        } else this.#print(notice)
      })
    })
    await connection.within(subscribed, connection.target.timeout)
    terminal.err(`Watching ${connection.name}. Press Ctrl-C to stop.`)
    await warnOfEmptyNamespace(this.#context)
    this.#schedulePing()
  }

  stop(): void {
    this.#stopListening?.()
    this.#pingTimer?.()
  }

  #print(notice: Notice): void {
    const { json, terminal, connection } = this.#context
    const wasConnected = this.#connected
    if (notice.kind === 'connected' || notice.kind === 'disconnected') this.#connected = notice.kind === 'connected'
    const at = new Date(connection.runtime.timeOfDay())
    if (json) terminal.out(jsonLine({ at: at.toISOString(), ...notice }))
    else if (notice.kind === 'warning') terminal.err(notice.message)
    else if (notice.kind === 'disconnected')
      terminal.err('The connection is lost. Until it is back, notices are not shown.')
    else if (notice.kind !== 'connected') terminal.out(`${clock.format(at)}  ${lineOf(notice)}`)
    else if (this.#pingTimer !== undefined && !wasConnected) terminal.err('The connection is back.')
  }

  /** Pings the server: a frozen one keeps its connections open. */
  #schedulePing(): void {
    const { connection } = this.#context
    this.#pingTimer = connection.runtime.schedule(() => {
      void connection
        .request((store) => store.ping(), connection.target.timeout)
        .then(
          () => this.#answered(),
          () => this.#unanswered(),
        )
        .then(() => this.#schedulePing())
    }, connection.target.timeout)
  }

  #answered(): void {
    if (this.#silent) this.#context.terminal.err('The server answers again.')
    this.#silent = false
  }

  #unanswered(): void {
    // A lost connection has already been reported.
    if (this.#silent || !this.#connected) return
    this.#silent = true
    const { connection, terminal } = this.#context
    terminal.err(
      `The server has not answered for ${formatDuration(connection.target.timeout)}. Until it answers, notices may be missing.`,
    )
  }
}

function lineOf(notice: Exclude<Notice, { readonly kind: 'warning' }>): string {
  if ('key' in notice) return `${notice.kind.padEnd(KIND_WIDTH)}  ${displayKey(notice.key)}`
  if ('tags' in notice)
    return `${notice.kind.padEnd(KIND_WIDTH)}  ${displayKeys(notice.tags)}${notice.how === 'expire' ? ' (expired)' : ''}`
  if (notice.kind === 'paused')
    return notice.remaining > 0 ? `paused     for ${formatDuration(notice.remaining)}` : 'resumed'
  return escapeControls(notice.kind)
}
