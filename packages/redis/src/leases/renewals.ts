import type { HeldLease, Rejection, StepParts } from '../lua/scripts.ts'

type Answer = 'renewed' | Rejection

interface Renewal extends HeldLease {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

/** The most leases that one script renews: it blocks Redis for less than a millisecond. */
const MOST_AT_ONCE = 256

/**
 * Renews the leases that fall due together by one script: a batch of many keys has as many leases, and a
 * command for each would not keep pace with them.
 */
export class Renewals {
  readonly #parts: StepParts
  /** On a cluster each lease is in another slot, so each has its own script. */
  #most: number
  /** By duration, those that are sent next. */
  readonly #due = new Map<number, Renewal[]>()

  constructor(parts: StepParts) {
    this.#parts = parts
    this.#most = parts.link.nodes === undefined ? MOST_AT_ONCE : 1
  }

  renew({ key, token }: HeldLease, duration: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const renewal = { key, token, resolve, reject }
      const due = this.#due.get(duration)
      if (due !== undefined) due.push(renewal)
      else {
        this.#due.set(duration, [renewal])
        // Timers that are due together run one after the other, each with its microtasks: the next timer is
        // behind them.
        this.#parts.runtime.schedule(() => this.#sendDue(duration), 0)
      }
    })
  }

  #sendDue(duration: number): void {
    const due = this.#due.get(duration) ?? []
    this.#due.delete(duration)
    for (let from = 0; from < due.length; from += this.#most)
      void this.#send(due.slice(from, from + this.#most), duration)
  }

  async #send(renewals: readonly Renewal[], duration: number): Promise<void> {
    try {
      const answers = await this.#parts.scripts.renew(renewals, duration)
      for (const [index, { resolve }] of renewals.entries()) resolve(answers[index] ?? 'gone')
    } catch (error) {
      // One address may hide many slots, and a script cannot use keys of two.
      if (renewals.length === 1) return renewals[0]?.reject(error)
      if (/CROSSSLOT/.test(String(error))) this.#most = 1
      for (const renewal of renewals) void this.#send([renewal], duration)
    }
  }
}
