import type { EngineServices } from '../flight/engine-services.ts'
import type { CancelTimer } from '../runtime/runtime.ts'
import type { LeaseTerm } from '../flight/lease-term.ts'

/**
 * Renews a lease every third of its duration, until `stop` or until the lease is lost, at the latest at
 * `maxHold`; `onLost` gets the reason.
 */
export class KeepAlive {
  readonly #term: LeaseTerm
  readonly #services: EngineServices
  readonly #onLost: (why: string) => void
  #stopped = false
  #cancelTimer: CancelTimer

  constructor(term: LeaseTerm, services: EngineServices, onLost: (why: string) => void) {
    this.#term = term
    this.#services = services
    this.#onLost = onLost
    this.#cancelTimer = this.#scheduleRenewal()
  }

  stop(): void {
    this.#stopped = true
    this.#cancelTimer()
  }

  #scheduleRenewal(): CancelTimer {
    return this.#services.runtime.schedule(() => void this.#renew(), this.#term.limits.duration / 3)
  }

  async #renew(): Promise<void> {
    const { events } = this.#services
    const answer = await this.#term.renew()
    if (this.#stopped) return
    if (answer.kind === 'max-hold') return this.#onLost(answer.kind)
    if (answer.kind === 'refused') return this.#onLost(answer.why)
    if (answer.kind === 'renewed' && events.hasListeners('renew'))
      events.emit('renew', { key: this.#term.lease.key, remaining: answer.remaining })
    this.#cancelTimer = this.#scheduleRenewal()
  }
}
