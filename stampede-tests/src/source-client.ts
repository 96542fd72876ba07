import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface KeyCount {
  began: number
  running: number
  mostAtOnce: number
}

/** How the loads that begin from now on behave. */
export interface Mood {
  /** ms */
  readonly took: number
  readonly fails: boolean
  /** They end only by `release`. */
  readonly holds: boolean
}

/** The source of a check: it counts loads, and they take, fail or are held as the check says. */
export class Source {
  readonly url: string
  readonly #stop: () => void

  private constructor(url: string, stop: () => void) {
    this.url = url
    this.#stop = stop
  }

  static async start(): Promise<Source> {
    const child = fork(fileURLToPath(new URL('source.js', import.meta.url)))
    const [port] = (await once(child, 'message')) as [number]
    return new Source(`http://127.0.0.1:${port}`, () => child.kill('SIGKILL'))
  }

  stop(): void {
    this.#stop()
  }

  async mood(changes: Partial<Mood>): Promise<void> {
    await this.#change(changes)
  }

  /** Its values change: loads that begin from now on get the next version. */
  async next(): Promise<void> {
    await this.#change({ next: true })
  }

  /** Ends the loads that it holds. */
  async release(): Promise<void> {
    await this.#change({ holds: false, release: true })
  }

  async count(key: string): Promise<KeyCount> {
    return (await this.counts())[key] ?? { began: 0, running: 0, mostAtOnce: 0 }
  }

  async counts(): Promise<Readonly<Record<string, KeyCount>>> {
    const response = await fetch(`${this.url}/counts`)
    return (await response.json()) as Record<string, KeyCount>
  }

  async #change(changes: Partial<Mood> & { next?: boolean; release?: boolean }): Promise<void> {
    await fetch(`${this.url}/mood`, { method: 'POST', body: JSON.stringify(changes) })
  }
}
