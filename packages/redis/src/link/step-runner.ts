import type { Away, Done } from '@cattlegrid/core/extend'
import type { DeniedCommands } from './denied-commands.ts'
import { awayAfter, type Link, NotExecutedError } from './link.ts'

/** Runs the steps of a store on Redis, and turns every error into the result `away`. */
export class StepRunner {
  readonly #link: Link
  readonly #denied: DeniedCommands
  #closed = false

  constructor(link: Link, denied: DeniedCommands) {
    this.#link = link
    this.#denied = denied
  }

  async run<T>(step: () => Promise<T>): Promise<T | Away> {
    try {
      this.assertReady()
      return await step()
    } catch (cause) {
      this.#denied.note(cause)
      return awayAfter(cause)
    }
  }

  /** Runs a step whose reply says nothing. */
  done(step: () => Promise<unknown>): Promise<Done> {
    return this.run(async () => {
      await step()
      return { kind: 'done' }
    })
  }

  /**
   * A client that is not ready would queue a command and send it at an unknown later time.
   *
   * @throws NotExecutedError when the store is closed or the client is not ready.
   */
  assertReady(): void {
    if (this.#closed) throw new NotExecutedError('The Redis store is closed; create a new one')
    if (!this.#link.isReady) throw new NotExecutedError('The Redis client is not connected', this.#link.status.error)
  }

  close(): void {
    this.#closed = true
  }
}
