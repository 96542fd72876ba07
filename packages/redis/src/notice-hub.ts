import type { Notice, Runtime } from '@cattlegrid/core'
import { queueMicrotask } from '@cattlegrid/core/internal'
import type { Link } from './link/link.ts'
import { Subscription } from './subscription.ts'

/** Passes the notices of the channel to every listener of the store. The subscription starts with the first listener. */
export class NoticeHub {
  readonly #link: Link
  readonly #subscription: Subscription
  readonly #listeners = new Set<(notice: Notice) => void>()
  readonly #onNotice: (notice: Notice) => void
  #started = false

  /** `onNotice` is called before the listeners; `onOther` gets the messages that are no notices. `maxSilence`: how long the server may answer nothing before the store reconnects, ms. */
  constructor(
    link: Link,
    channel: string,
    runtime: Runtime,
    maxSilence: number | false,
    onNotice: (notice: Notice) => void,
    onOther: (message: string) => void,
  ) {
    this.#link = link
    this.#onNotice = onNotice
    this.#subscription = new Subscription(
      link,
      channel,
      (notice) => this.announce(notice),
      onOther,
      runtime,
      maxSilence,
    )
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
        this.announce({
          kind: 'warning',
          message:
            'The Redis client is not open: it was closed, or not told to connect. Call `await client.connect()`; until then, each process loads on its own.',
        })
    })
  }

  /** Passes a notice to the listeners as if it came from the channel. */
  announce(notice: Notice): void {
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
