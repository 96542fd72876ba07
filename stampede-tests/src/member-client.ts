import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { OpenOptions } from './driver.js'

/** What the runner asks of a process. */
export interface Order {
  readonly id: number
  readonly what: 'get' | 'delete' | 'invalidateTag'
  readonly key?: string
  readonly tag?: string
  /** Number of calls in one turn of the event loop. */
  readonly callers?: number
  readonly tags?: readonly string[]
  /** The caller's signal is aborted after this time, ms. */
  readonly leavesAfter?: number
  /** The loader throws before it returns a promise. */
  readonly throws?: boolean
}

/** What a caller got, after how many ms. Neither a value nor an error: it was not answered. */
export interface Answer {
  readonly value?: unknown
  readonly error?: string
  readonly took: number
}

interface Reply {
  readonly id: number
  readonly answers?: readonly Answer[]
  readonly error?: string
}

/** How long a call may take before it counts as not answered, ms. */
const LONGEST = 20_000
const LONGEST_START = 30_000

/** A process that uses the library. */
export class Member {
  readonly #child: ChildProcess
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #ids = 0
  #errors = ''

  private constructor(child: ChildProcess) {
    this.#child = child
    // Each call listens for the end of the process.
    child.setMaxListeners(0)
    child.on('message', (reply: Reply) => this.#waiting.get(reply.id)?.(reply))
    child.stderr?.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()))
  }

  static async start(driverFile: string, sourceUrl: string, options: OpenOptions): Promise<Member> {
    const program = fileURLToPath(new URL('member.js', import.meta.url))
    const child = fork(program, [driverFile, sourceUrl, JSON.stringify(options)], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    })
    const member = new Member(child)
    const signal = AbortSignal.timeout(LONGEST_START)
    await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(() => {
        throw new Error(`The driver's process ended before it was open: ${member.#errors}`)
      }),
    ])
    return member
  }

  /** False once it has died, for example by an unhandled rejection. */
  get lives(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  async get(key: string, order: Partial<Order> = {}): Promise<Answer> {
    const [answer] = await this.herd(key, 1, order)
    return answer ?? { took: LONGEST }
  }

  /** Calls in one turn of the event loop. */
  async herd(key: string, callers: number, order: Partial<Order> = {}): Promise<readonly Answer[]> {
    const reply = await this.#send({ ...order, what: 'get', key, callers })
    return reply?.answers ?? Array.from({ length: callers }, () => ({ took: LONGEST }))
  }

  async delete(key: string): Promise<void> {
    await this.#obeyed({ what: 'delete', key })
  }

  async invalidateTag(tag: string): Promise<void> {
    await this.#obeyed({ what: 'invalidateTag', tag })
  }

  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  kill(): void {
    this.#child.kill('SIGKILL')
  }

  async #obeyed(order: Omit<Order, 'id'>): Promise<void> {
    const reply = await this.#send(order)
    if (reply === undefined) throw new Error(`\`${order.what}\` did not end in ${LONGEST / 1000} s`)
    if (reply.error !== undefined) throw new Error(`\`${order.what}\` failed: ${reply.error}`)
  }

  async #send(order: Omit<Order, 'id'>): Promise<Reply | undefined> {
    this.#ids += 1
    const id = this.#ids
    if (!this.lives) return undefined
    const answered = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve))
    this.#child.send({ ...order, id })
    const stop = new AbortController()
    const died = once(this.#child, 'exit', { signal: stop.signal }).then(
      () => undefined,
      () => undefined,
    )
    try {
      return await Promise.race([answered, died, sleep(LONGEST, undefined, { signal: stop.signal })])
    } finally {
      this.#waiting.delete(id)
      stop.abort()
    }
  }
}
