import { AsyncResource } from 'node:async_hooks'
import type { CancelTimer, Notice, Runtime } from '@cattlegrid/core/extend'
import type { Link } from '../link/link.ts'
import type { StepRunner } from '../link/step-runner.ts'
import type { RedisKeys } from '../redis-keys.ts'
import { pauseMessage } from './wake-message.ts'

/** The time before the pause is read again after a read without an answer, ms. */
const RETRY_DELAY = 1000

/** What the pause needs of its store. */
export interface FleetPauseSetup {
  readonly link: Link
  readonly redisKeys: RedisKeys
  readonly steps: StepRunner
  readonly runtime: Runtime
  readonly announce: (notice: Notice) => void
}

/**
 * The pause of all processes of a namespace: a key whose value and time to live are the pause's length, and a
 * notice at each change. Notices may be lost, so a process reads the key whenever its subscription is
 * connected, and when it pings. While Redis is away, it keeps what it knew until the pause's end.
 */
export class FleetPause {
  readonly #setup: FleetPauseSetup
  /** Runs the timer outside the async context of a request that pings. */
  readonly #scope = new AsyncResource('cattlegrid')
  /** By `elapsed()`. */
  #until = -Infinity
  #notices = 0
  #cancelRetry: CancelTimer = () => undefined
  #closed = false

  constructor(setup: FleetPauseSetup) {
    this.#setup = setup
  }

  /** Notes a notice of the pause: it is newer than the answer to a read that was sent before. */
  note(remaining: number): void {
    this.#notices += 1
    this.#until = this.#setup.runtime.elapsed() + remaining
  }

  /** Tells a listener that was not there when the others were told. */
  tell(listener: (notice: Notice) => void): void {
    const remaining = this.#until - this.#setup.runtime.elapsed()
    if (remaining > 0) listener({ kind: 'paused', remaining })
  }

  /** Reads the key, again and again until Redis answers. */
  async read(): Promise<void> {
    this.#cancelRetry()
    const { steps, announce } = this.#setup
    const noticesBefore = this.#notices
    const answer = await steps.run(async () => ({ kind: 'pause', remaining: await this.#remaining() }) as const)
    if (this.#closed || this.#notices !== noticesBefore) return
    if (answer.kind === 'away') this.#readLater()
    else if (answer.remaining > 0 || this.#until > this.#setup.runtime.elapsed())
      announce({ kind: 'paused', remaining: answer.remaining })
  }

  close(): void {
    this.#closed = true
    this.#cancelRetry()
  }

  #readLater(): void {
    const schedule = (): CancelTimer => this.#setup.runtime.schedule(() => void this.read(), RETRY_DELAY)
    this.#cancelRetry = this.#scope.runInAsyncScope(schedule)
  }

  /** What the pause has left, at most its whole length: the server's clock may have been set back. */
  async #remaining(): Promise<number> {
    const { link, redisKeys } = this.#setup
    const ask = (command: string): Promise<unknown> => link.send(redisKeys.pause, [command, redisKeys.pause], 'text')
    const [length, left] = await Promise.all([ask('GET'), ask('PTTL')])
    return /^\d{1,10}$/.test(String(length)) ? Math.max(0, Math.min(Number(length), Number(left))) : 0
  }
}

/**
 * Pauses all processes of a namespace for `duration` ms; 0 ends the pause. Returns how many subscriptions
 * were told, of a cluster those of one node.
 */
export async function pauseFleet(link: Link, { pause, channel }: RedisKeys, duration: number): Promise<number> {
  const length = String(duration)
  await link.send(pause, duration > 0 ? ['SET', pause, length, 'PX', length] : ['DEL', pause], 'text')
  return Number(await link.send(pause, ['PUBLISH', channel, pauseMessage(duration)], 'text'))
}
