import type { Runtime } from '@cattlegrid/core/extend'
import type { Link } from '../link/link.ts'

/** What is known of a server's clock: its time minus that of this process lies between these, ms. */
interface Offset {
  readonly least: number
  readonly most: number
}

/** The reply to a step that has a latest moment. */
export interface TimedReply<T> {
  readonly reply: T
  /** The server's time when it ran the step, µs; undefined where it told none. */
  readonly time: number | undefined
  /** True: it was too late, and the step was not executed. */
  readonly late: boolean
}

/** The terms of a step that has a latest moment. */
export interface TimedTerms {
  /** The step must not be executed later than this after it is sent, ms; undefined: at any time. */
  readonly within?: number | undefined
  /** Returns true once nobody waits for the answer. Default: never. */
  readonly isAbandoned?: (() => boolean) | undefined
}

/**
 * The most times that a step is sent: this process may be too busy to send it in time, and the server's clock
 * may be set.
 */
const ATTEMPTS = 3
/** The offsets of at most this many nodes are kept. */
const MOST_NODES = 1000

/**
 * Gives steps that no token guards a latest moment, in the time of the server that executes them: a
 * connection that was given up may deliver them later.
 *
 * 1. A sets X, and the network swallows the connection: rejected     2. A deletes the key over a new connection: done
 * 3. the old connection delivers: without the latest moment, X would be back
 *
 * The server's time is learned from replies. The moment that they count from is the latest possible one, so
 * that a step is refused rather too early than too late; a refusal tells the time, and the step is sent
 * again. Before the first reply of a server, TIME is sent alone: no step is ever without its moment.
 */
export class ServerClocks {
  readonly #link: Link
  readonly #runtime: Runtime
  /** By node; one server has an empty name. */
  readonly #offsets = new Map<string, Offset>()
  readonly #learning = new Map<string, Promise<unknown>>()

  constructor(link: Link, runtime: Runtime) {
    this.#link = link
    this.#runtime = runtime
  }

  /**
   * Runs a step with its latest moment, µs; '' for none. Rejects with an error when it came too late, and
   * nobody waits for it any more.
   */
  async run<T>(
    name: string,
    { within, isAbandoned = () => false }: TimedTerms,
    step: (latest: string) => Promise<TimedReply<T>>,
  ): Promise<T> {
    if (within === undefined) return (await step('')).reply
    const node = this.#link.nodes?.addressOf(name) ?? ''
    if (!this.#offsets.has(node)) await this.#learn(node, name)
    for (let attempt = 0; attempt < ATTEMPTS && !isAbandoned(); attempt += 1) {
      const sentAt = this.#runtime.elapsed()
      const { reply, time, late } = await step(this.#at(node, sentAt + within))
      if (time !== undefined) this.note(node, sentAt, time)
      if (!late) return reply
    }
    throw new Error('Not executed: the step would have reached Redis later than its caller waits')
  }

  /** Sends TIME to the server of a key's name. */
  async ping(name: string): Promise<void> {
    await this.#ask(this.#link.nodes?.addressOf(name) ?? '', (args) => this.#link.send(name, args, 'text'))
  }

  /** The same for the master at an address, if there is one. */
  async pingNode(node: string): Promise<void> {
    await this.#ask(node, (args) => this.#link.nodes?.masterAt(node)?.send(args, 'text') ?? Promise.resolve())
  }

  /** Notes the time of a server, µs, in its reply to a command that was sent at `sentAt`. */
  note(node: string, sentAt: number, time: number): void {
    const [least, most] = [time / 1000 - this.#runtime.elapsed(), time / 1000 - sentAt]
    const known = this.#offsets.get(node)
    // Two that exclude each other: the server's clock was set, or another server has the address.
    const agrees = known !== undefined && least <= known.most && most >= known.least
    if (this.#offsets.size >= MOST_NODES) this.#offsets.clear()
    this.#offsets.set(
      node,
      agrees ? { least: Math.max(least, known.least), most: Math.min(most, known.most) } : { least, most },
    )
  }

  #at(node: string, moment: number): string {
    return ((moment + (this.#offsets.get(node)?.least ?? 0)) * 1000).toFixed(0)
  }

  /** Steps that begin meanwhile share the answer. */
  async #learn(node: string, name: string): Promise<void> {
    const learning = this.#learning.get(node) ?? this.ping(name)
    this.#learning.set(node, learning)
    try {
      await learning
    } finally {
      this.#learning.delete(node)
    }
  }

  async #ask(node: string, send: (args: readonly string[]) => Promise<unknown>): Promise<void> {
    const sentAt = this.#runtime.elapsed()
    const time = serverTime(await send(['TIME']))
    if (!Number.isNaN(time)) this.note(node, sentAt, time)
  }
}

/** The time in a reply to TIME, µs; NaN if there is none. */
export function serverTime(reply: unknown): number {
  const [seconds, micros] = Array.isArray(reply) ? reply.map(Number) : []
  return Number(seconds) * 1_000_000 + Number(micros)
}
