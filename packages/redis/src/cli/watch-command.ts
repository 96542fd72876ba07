import type { CancelTimer, Notice } from '@cattlegrid/core'
import type { Call, Command } from './command.ts'
import { Complaint } from './complaint.ts'
import { jsonLine, named, namedList, time, visible } from './print.ts'

const KIND_WIDTH = 'committed'.length

export const watchCommand: Command = {
  name: 'watch',
  synopsis: '',
  summary: 'prints what happens in the whole fleet as it happens, until Ctrl-C',
  details: `One line for each write, delete, expire, clear and invalidation of tags in the namespace, and for each
commit and release that somebody waited for: others are announced to nobody.
A connection that is lost is made again, and both is told: what happened in between is not shown.
--timeout rules the beginning, and how long the server may be silent before that is told.`,
  objection: ({ length }) => (length === 0 ? undefined : `'watch' takes no key, and ${length} given.`),
  async run(call) {
    const ended = call.terminal.interrupted()
    const watch = new Watch(call)
    await Promise.race([watch.start(), ended])
    await ended
    watch.stop()
  },
}

class Watch {
  readonly #call: Call
  #connected = false
  #silent = false
  #stopListening: (() => void) | undefined
  #nextQuestion: CancelTimer | undefined

  constructor(call: Call) {
    this.#call = call
  }

  /** Resolves once notices arrive. @throws Complaint when they do not in time, or may not. */
  async start(): Promise<void> {
    const { connection, terminal } = this.#call
    const hearing = new Promise<void>((resolve, reject) => {
      this.#stopListening = connection.watch((notice) => {
        if (notice.kind === 'connected') resolve()
        if (notice.kind === 'warning' && !this.#connected) {
          reject(new Complaint(1, notice.message, 'Name a Redis user who may subscribe in the URL.'))
        } else this.#tell(notice)
      })
    })
    await connection.within(hearing, connection.timeout)
    terminal.err(`Watching ${connection.name}. Ctrl-C ends it.`)
    this.#askLater()
  }

  stop(): void {
    this.#stopListening?.()
    this.#nextQuestion?.()
  }

  #tell(notice: Notice): void {
    const { json, terminal, connection } = this.#call
    const wasHearing = this.#connected
    if (notice.kind === 'connected' || notice.kind === 'disconnected') this.#connected = notice.kind === 'connected'
    const at = new Date(connection.runtime.timeOfDay())
    if (json) terminal.out(jsonLine({ at: at.toISOString(), ...notice }))
    else if (notice.kind === 'warning') terminal.err(notice.message)
    else if (notice.kind === 'disconnected') terminal.err('The connection is lost: what happens now is not shown.')
    else if (notice.kind !== 'connected') terminal.out(`${clock(at)}  ${lineOf(notice)}`)
    else if (this.#nextQuestion !== undefined && !wasHearing) terminal.err('The connection is back.')
  }

  /** A frozen server keeps its connections: only a question finds out. */
  #askLater(): void {
    const { connection } = this.#call
    this.#nextQuestion = connection.runtime.schedule(() => {
      void connection
        .ask((store) => store.ping(), connection.timeout)
        .then(
          () => this.#answered(),
          () => this.#unanswered(),
        )
        .then(() => this.#askLater())
    }, connection.timeout)
  }

  #answered(): void {
    if (this.#silent) this.#call.terminal.err('The server answers again.')
    this.#silent = false
  }

  #unanswered(): void {
    // A lost connection was told already.
    if (this.#silent || !this.#connected) return
    this.#silent = true
    const { connection, terminal } = this.#call
    terminal.err(`The server has not answered for ${time(connection.timeout)}: what happens now may not be shown.`)
  }
}

function clock(at: Date): string {
  const [hours, minutes, seconds] = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) => digits(part, 2))
  return `${hours}:${minutes}:${seconds}.${digits(at.getMilliseconds(), 3)}`
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0')
}

function lineOf(notice: Exclude<Notice, { readonly kind: 'warning' }>): string {
  if ('key' in notice) return `${notice.kind.padEnd(KIND_WIDTH)}  ${named(notice.key)}`
  if ('tags' in notice) return `${notice.kind.padEnd(KIND_WIDTH)}  ${namedList(notice.tags)}`
  return visible(notice.kind)
}
