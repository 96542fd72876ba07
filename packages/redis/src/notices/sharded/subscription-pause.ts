import type { Runtime } from '@cattlegrid/core/extend'
import { ShardedUnsupportedError } from '../../link/client.ts'
import { isErrorReply } from '../../link/connection-error.ts'

/** The time for which nothing is subscribed after the server or the client has refused it, ms. */
const REFUSAL_PAUSE = 30_000

/**
 * Nothing is subscribed for a while after a refusal: one of a group is one of all. Later it may succeed, for
 * example once the server has been replaced by a newer one.
 */
export class SubscriptionPause {
  readonly #channel: string
  readonly #runtime: Runtime
  readonly #warn: (message: string) => void
  #endsAt = 0
  #warned = false

  constructor(channel: string, runtime: Runtime, warn: (message: string) => void) {
    this.#channel = channel
    this.#runtime = runtime
    this.#warn = warn
  }

  get isOver(): boolean {
    return this.#runtime.elapsed() >= this.#endsAt
  }

  /** Begins the pause, and warns at its first time. */
  begin(error: unknown): void {
    this.#endsAt = this.#runtime.elapsed() + REFUSAL_PAUSE
    if (this.#warned) return
    this.#warned = true
    const reason = error instanceof Error ? error.message : String(error)
    this.#warn(
      `Sharded notices do not arrive (${reason}): they need Redis 7 on every node, a client with sharded channels, and the rights +ssubscribe, +spublish and ` +
        `&${this.#channel}:*. Until then, no near copies are kept and waiters poll.`,
    )
  }
}

/** True if subscribing again would be refused, too. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof ShardedUnsupportedError || (isErrorReply(error) && /^(?:NOPERM|ERR unknown)/.test(error.message))
  )
}
