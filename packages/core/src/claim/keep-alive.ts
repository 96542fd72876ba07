import type { EngineServices } from '../flight/engine-services.ts'
import type { CancelTimer } from '../runtime/runtime.ts'
import { answerOf, type Lease } from '../store/answers.ts'

export interface LeaseHold {
  /** The length that a renewal gives the lease, ms. */
  readonly duration: number
  /** The latest end of the lease, ms from its grant: a hung loader loses it then. */
  readonly maxHold: number
}

/** Renews a lease every third of its duration, until `stop` or until the lease is lost, at the latest at `maxHold`; `onLost` gets the reason. */
export class KeepAlive {
  readonly #lease: Lease
  readonly #hold: LeaseHold
  readonly #services: EngineServices
  readonly #onLost: (why: string) => void
  #stopped = false
  #cancelTimer: CancelTimer

  constructor(lease: Lease, hold: LeaseHold, services: EngineServices, onLost: (why: string) => void) {
    this.#lease = lease
    this.#hold = hold
    this.#services = services
    this.#onLost = onLost
    this.#cancelTimer = this.#scheduleRenewal()
  }

  stop(): void {
    this.#stopped = true
    this.#cancelTimer()
  }

  #scheduleRenewal(): CancelTimer {
    return this.#services.runtime.schedule(() => void this.#renew(), this.#hold.duration / 3)
  }

  async #renew(): Promise<void> {
    const { store, runtime, events } = this.#services
    const left = this.#hold.maxHold - (runtime.elapsed() - this.#lease.sentAt)
    if (left < 1) return this.#onLost('max-hold')
    const duration = Math.min(this.#hold.duration, left)
    const answer = await answerOf(() => store.renew(this.#lease, duration))
    if (this.#stopped) return
    if (answer.kind === 'refused') return this.#onLost(answer.why)
    if (answer.kind === 'renewed' && events.hasListeners('renew'))
      events.emit('renew', { key: this.#lease.key, remaining: duration })
    this.#cancelTimer = this.#scheduleRenewal()
  }
}
