import { type Away, awayBecause } from '@cattlegrid/core'
import type { Link } from './link/link.ts'

/** Runs the steps of one store on Redis. Whatever goes wrong in a step becomes the value `away`. */
export class StepRunner {
  readonly #link: Link
  #closed = false

  constructor(link: Link) {
    this.#link = link
  }

  async run<T>(step: () => Promise<T>): Promise<T | Away> {
    try {
      this.assertReady()
      return await step()
    } catch (cause) {
      return awayBecause(cause)
    }
  }

  /**
   * A client that is not ready would queue a command and send it at an unknown later moment.
   *
   * @throws Error while nothing may be sent.
   */
  assertReady(): void {
    if (this.#closed) throw new Error('The Redis store is closed; create a new one')
    if (!this.#link.isReady) throw new Error('The Redis client is not connected')
  }

  close(): void {
    this.#closed = true
  }
}
