import type { Notice, Runtime } from '@cattlegrid/core'
import type { Link } from './link/link.ts'
import { Subscription } from './subscription.ts'

/** Passes what the channel says to every listener of this store. The subscription begins with the first listener. */
export class NoticeHub {
  readonly #link: Link
  readonly #subscription: Subscription
  readonly #listeners = new Set<(notice: Notice) => void>()
  readonly #onNotice: (notice: Notice) => void
  #started = false

  /** `onNotice` is called before the listeners. `patience`, ms: how long the server may leave everything unanswered. */
  constructor(
    link: Link,
    channel: string,
    runtime: Runtime,
    patience: number | false,
    onNotice: (notice: Notice) => void,
  ) {
    this.#link = link
    this.#onNotice = onNotice
    this.#subscription = new Subscription(link, channel, (notice) => this.#notify(notice), runtime, patience)
  }

  watch(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    if (!this.#started) this.#start()
    else if (this.#subscription.connected) queueMicrotask(() => listener({ kind: 'connected' }))
    return () => {
      this.#listeners.delete(listener)
    }
  }

  close(): void {
    this.#listeners.clear()
    this.#subscription.close()
  }

  #start(): void {
    this.#started = true
    this.#subscription.start()
    // In a microtask, so that the caller of `createCache` can still add a listener or connect the client.
    queueMicrotask(() => {
      if (!this.#link.isOpen)
        this.#notify({
          kind: 'warning',
          message:
            'The Redis client is not open: call `await client.connect()`. Until then the cache works per process.',
        })
    })
  }

  #notify(notice: Notice): void {
    this.#onNotice(notice)
    for (const listener of this.#listeners) {
      try {
        listener(notice)
      } catch {
        // A listener that throws must not keep the notice from the others.
      }
    }
  }
}
