import type { Flight } from '../flight/flight.ts'
import type { RefreshBudget } from '../flight/refresh-budget.ts'
import type { Settings } from '../options/settings.ts'
import type { RefreshRequest } from '../store/refresh-quota.ts'

/**
 * The permit of one background refresh by the cache's `refreshBudget`, from the request for it to its end.
 */
export class RefreshPermit {
  readonly #flight: Flight
  readonly #budget: RefreshBudget
  readonly #request: RefreshRequest
  /** `asked`: it holds no permit: there is no answer yet, or it was refused, or a caller came first. */
  #state: 'new' | 'asked' | 'granted' | 'used' = 'new'
  /** Defined when a caller came before the answer: a permit that is granted then goes back unused. */
  #givingBack: Promise<void> | undefined

  constructor(flight: Flight, budget: RefreshBudget, { loadTimeout, leaseDuration }: Settings) {
    this.#flight = flight
    this.#budget = budget
    // The load ends in time; the rest is for the steps before and after it.
    this.#request = budget.beginRequest(loadTimeout + leaseDuration)
  }

  /**
   * Resolves to true when the refresh may begin: with a permit, or without one because a call waits for it.
   * Asks once.
   */
  async acquire(): Promise<boolean> {
    if (this.#state !== 'new') return true
    this.#state = 'asked'
    const joined = new Promise<'joined'>((resolve) => this.#flight.onFirstCaller(() => resolve('joined')))
    const asking = this.#budget.ask(this.#request)
    const first = await Promise.race([joined, asking])
    if (first === 'joined') {
      this.#givingBack = this.#giveBack(asking)
      return true
    }
    if (first) this.#state = 'granted'
    return first
  }

  /** A load begins: the permit keeps its share of the rate. */
  use(): void {
    if (this.#state === 'granted') this.#state = 'used'
  }

  /** Resolves once the store has the permit back. Never rejects. */
  async end(): Promise<void> {
    if (this.#state === 'new') this.#budget.withdrawRequest()
    if (this.#state === 'granted' || this.#state === 'used')
      await this.#budget.endPermit(this.#request, this.#state === 'granted')
    await this.#givingBack
  }

  async #giveBack(asking: Promise<boolean>): Promise<void> {
    try {
      if (await asking) await this.#budget.endPermit(this.#request, true)
    } catch {
      // It was not granted.
    }
  }
}
