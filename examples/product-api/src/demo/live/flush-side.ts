import type { ChildProcess } from 'node:child_process'
import { startChild } from '../../child.ts'
import type { Calls, FlushMessage } from '../../flush-process.ts'
import { FragileSource } from './fragile-source.ts'

/** `limited`: cattlegrid with its defaults; `unlimited`: with `maxLoads: false`, and nothing else changed. */
export type FlushSideName = 'limited' | 'unlimited'

/** One second of one side. */
export interface FlushSecond {
  /** Calls that were answered within 2 s. */
  readonly good: number
  /** Loads that the source works on and those in its queue: the most at one moment. */
  readonly atSource: number
  /** The loads at once that its processes allow together; null before it is known, and without one. */
  readonly limit: number | null
}

/** What came of a flush. */
export interface FlushResult extends Calls {
  readonly mostAtSource: number
}

export interface FlushSideOptions {
  readonly redisUrl: string
  readonly namespace: string
  readonly onSpawn: (stop: () => Promise<void>) => void
}

const PROCESSES = 2

/** The processes of one side, their source, and what became of their calls. */
export class FlushSide {
  readonly name: FlushSideName
  readonly #source = new FragileSource()
  readonly #stops: (() => Promise<void>)[] = []
  #limit: number | null = null
  #second = { ended: 0, good: 0, atSource: 0 }
  #since = { ended: 0, good: 0, mostAtSource: 0 }

  constructor(name: FlushSideName) {
    this.name = name
  }

  /** Resolves when every process has all keys and calls. */
  async start({ redisUrl, namespace, onSpawn }: FlushSideOptions): Promise<void> {
    const options = {
      args: [this.name],
      env: { REDIS_URL: redisUrl, NAMESPACE: namespace },
      onSpawn: (stop: () => Promise<void>) => {
        this.#stops.push(stop)
        onSpawn(stop)
      },
    }
    const start = async (): Promise<void> => {
      const { process } = await startChild('./flush-process.ts', options)
      process.on('message', (message: FlushMessage) => this.#hear(process, message))
    }
    await Promise.all(Array.from({ length: PROCESSES }, start))
  }

  async stop(): Promise<void> {
    this.#source.close()
    await Promise.all(this.#stops.map((stop) => stop()))
  }

  /** From now on the calls count as those after the flush. */
  flushed(): void {
    this.#since = { ended: 0, good: 0, mostAtSource: 0 }
  }

  get result(): FlushResult {
    return this.#since
  }

  takeSecond(): FlushSecond {
    const { good, atSource } = this.#second
    this.#second = { ended: 0, good: 0, atSource: this.#source.loads }
    return { good, atSource, limit: this.#limit }
  }

  #hear(process: ChildProcess, message: FlushMessage): void {
    if (message.kind === 'limit') this.#limit = message.limit
    if (message.kind === 'calls') this.#add(message)
    if (message.kind !== 'load') return
    this.#source.load(() => void (process.connected && process.send(message.id)))
    this.#second.atSource = Math.max(this.#second.atSource, this.#source.loads)
    this.#since.mostAtSource = Math.max(this.#since.mostAtSource, this.#source.loads)
  }

  #add({ ended, good }: Calls): void {
    for (const sum of [this.#second, this.#since]) {
      sum.ended += ended
      sum.good += good
    }
  }
}
