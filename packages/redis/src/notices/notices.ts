import type { Notice } from '@cattlegrid/core/extend'
import { queueOwnMicrotask } from '../microtask.ts'
import { ShardedChannels } from './sharded/sharded-channels.ts'
import { ShardedNotices } from './sharded/sharded-notices.ts'
import { Subscription, type SubscriptionSetup } from './subscription.ts'

export interface NoticesSetup extends Omit<SubscriptionSetup, 'announce'> {
  /** True: on a cluster, the notices about a key come over the channel of its group of slots. */
  readonly sharded: boolean
  /** Called with each notice before the listeners. */
  readonly onNotice: (notice: Notice) => void
  /** Gets the messages that are no notices. */
  readonly onOther: (message: string) => void
}

/**
 * Passes the notices of the namespace to every listener of the store. The subscription starts with the
 * first listener.
 */
export class Notices {
  readonly #setup: NoticesSetup
  readonly #subscription: Subscription
  readonly #sharded: ShardedNotices | undefined
  readonly #listeners = new Set<(notice: Notice) => void>()
  /**
   * The warnings that came before the first listener: a client may fail long before a cache is made of
   * its store.
   */
  readonly #untold: Notice[] = []
  #started = false

  constructor(setup: NoticesSetup) {
    const { link, sharded, onOther } = setup
    const subscribing = { ...setup, announce: (notice: Notice): void => this.announce(notice) }
    this.#setup = setup
    this.#subscription = new Subscription(subscribing, onOther)
    if (sharded && link.nodes !== undefined) this.#sharded = new ShardedNotices(subscribing, link.nodes)
  }

  /** False while notices about the key are not subscribed to. */
  arriveFor(key: string): boolean {
    return this.#sharded?.arriveFor(key) !== false
  }

  /** Comes before a read: notices end the copies of its answer. */
  follow(key: string): void {
    this.#sharded?.follow(key)
  }

  /** Comes before an acquire: a notice of the end of a lease that is held must find the subscription. */
  expect(key: string): void {
    this.#sharded?.expect(key)
  }

  watch(listener: (notice: Notice) => void): () => void {
    this.#listeners.add(listener)
    for (const notice of this.#untold.splice(0)) queueOwnMicrotask(() => listener(notice))
    if (!this.#started) this.#start()
    else if (this.#subscription.connected) queueOwnMicrotask(() => listener({ kind: 'connected' }))
    return () => {
      this.#listeners.delete(listener)
    }
  }

  /** Passes a notice to the listeners as if it came from the channel. */
  announce(notice: Notice): void {
    this.#setup.onNotice(notice)
    if (!this.#started && notice.kind === 'warning') this.#untold.push(notice)
    for (const listener of this.#listeners) {
      try {
        listener(notice)
      } catch {
        // A listener that throws must not keep the notice from the others.
      }
    }
  }

  close(): void {
    this.#listeners.clear()
    this.#sharded?.close()
    this.#subscription.close()
  }

  #start(): void {
    this.#started = true
    this.#subscription.start()
    // In a microtask, so that the caller of `createCache` can still add a listener or connect the client.
    queueOwnMicrotask(() => {
      if (!this.#setup.link.isOpen)
        this.announce({
          kind: 'warning',
          message:
            'The Redis client is not open: it was closed, or not told to connect. Call `await client.connect()`; until then, each process loads on its own.',
        })
    })
  }
}

/** Names the channels, beside that of the namespace, on which a change of a key is published. */
export function channelsOfKeys(channel: string, sharded: boolean): (key: string) => readonly string[] {
  if (!sharded) return () => []
  const channels = new ShardedChannels(channel)
  return (key) => [channels.ofKey(key)]
}
