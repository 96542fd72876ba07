import { startMember, type Member } from '../run/member.ts'
import type { RedisMeter } from '../run/redis-meter.ts'
import { at as quantile } from '../run/figure.ts'
import { type Answers, type Burst, type Game, loadsPerExpiry, type Stream, together } from './game.ts'

const LEAD_TIME = 100

/** Some processes, one Redis, and what is read off both. */
export class Fleet {
  readonly members: Member[] = []
  readonly #redis: string
  readonly #look: RedisMeter
  readonly #most: number
  #size = 0
  #games = 0

  /** `most`: a smoke run has fewer processes than the scenarios ask for. */
  constructor(redis: string, look: RedisMeter, most: number) {
    this.#redis = redis
    this.#look = look
    this.#most = most
  }

  /** How many take part in the game that is on. */
  get size(): number {
    return this.#size
  }

  /** Those that take part in the game that is on. */
  get #playing(): readonly Member[] {
    return this.members.slice(0, this.#size)
  }

  async #grow(size: number): Promise<void> {
    while (this.members.length < size) this.members.push(await startMember('stampede/member.js'))
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()))
  }

  /** Every process opens the contender; a namespace of its own each time. */
  async open(
    name: string,
    game: Omit<Game, 'namespace' | 'redis'>,
    { processes = 8, local = false } = {},
  ): Promise<void> {
    this.#size = Math.min(processes, this.#most)
    await this.#grow(this.#size)
    this.#games += 1
    const whole: Game = { ...game, redis: local ? undefined : this.#redis, namespace: this.namespace }
    await Promise.all(this.#playing.map((member) => member.ask('open', name, whole)))
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.ask('close')))
  }

  /** What its keys begin with in the game that is on. */
  get namespace(): string {
    return `stampede-${this.#games}`
  }

  /** What each process saw of the same callers at the same moment; one that was killed saw nothing. */
  async each(burst: Omit<Burst, 'at'>): Promise<readonly (Answers | undefined)[]> {
    const whole = { ...burst, at: Date.now() + LEAD_TIME }
    const asked = this.#playing.map((member) => member.ask<Answers>('burst', whole))
    return (await Promise.allSettled(asked)).map((end) => (end.status === 'fulfilled' ? end.value : undefined))
  }

  /** Replaces a process that was killed. */
  async revive(index: number): Promise<void> {
    this.members[index] = await startMember('stampede/member.js')
  }

  /** All of them together. */
  async burst(burst: Omit<Burst, 'at'>): Promise<Record<string, number>> {
    return summary(await this.#all('burst', burst))
  }

  async stream(stream: Omit<Stream, 'at'>, loadTime: number): Promise<Record<string, number>> {
    const seen = await this.#all('stream', stream)
    // Longer than any answer from a cache takes: such a caller has waited for a load.
    const waited = seen.times.filter((time) => time > loadTime / 4).length
    const calls = seen.times.length
    return { ...summary(seen), calls, perExpiry: loadsPerExpiry(seen.loads, loadTime), waited: waited / calls }
  }

  /** What each process sends during `work`, on average. */
  async sent(work: () => Promise<unknown>): Promise<number> {
    return (await this.#look.sent(work)) / this.#size
  }

  async #all(what: string, game: object): Promise<Answers> {
    const at = Date.now() + LEAD_TIME
    return together(await Promise.all(this.#playing.map((member) => member.ask<Answers>(what, { ...game, at }))))
  }
}

function summary({ loads, times, failed, unanswered }: Answers): Record<string, number> {
  return { loads: loads.length, p50: quantile(times, 0.5), p99: quantile(times, 0.99), failed, unanswered }
}
