import { AsyncResource } from 'node:async_hooks'
import type { CancelTimer } from '@cattlegrid/core/extend'
import type { LinkNodes } from '../../link/link.ts'
import { NoticeConnection } from '../notice-connection.ts'
import type { SubscriptionSetup } from '../subscription.ts'
import { parseMessage } from '../wake-message.ts'
import { ShardedChannels } from './sharded-channels.ts'
import { isRefusal, SubscriptionPause } from './subscription-pause.ts'

/** The time between two checks whether each group is subscribed at its present master, ms. */
const CHECK_INTERVAL = 2000
/** The time after which a lost connection is replaced, ms. */
const RETRY_DELAY = 250
/** Number of keys of a group that are woken when it is subscribed. The flights that wait for others poll. */
const AWAITED_KEYS = 100

/** A group of slots about whose keys this process wants the notices. */
interface Group {
  readonly channel: string
  /** Where its channel is subscribed, or is about to be. */
  at: { readonly address: string; readonly connection: NoticeConnection } | undefined
  /**
   * True from the reply to its subscription until the connection is lost or the channel moves to
   * another master.
   */
  subscribed: boolean
  /** True if listeners were told that its notices may be lost. */
  lost: boolean
  /**
   * The keys that were acquired before the group was subscribed: a caller may wait for the end of
   * their leases.
   */
  readonly awaited: Set<string>
}

/**
 * The store's subscriptions to the channels of groups of slots: those of the keys that it was asked for, each
 * at its present master, by one connection a master.
 */
export class ShardedNotices {
  readonly #setup: SubscriptionSetup
  readonly #nodes: LinkNodes
  readonly #channels: ShardedChannels
  readonly #groups = new Map<number, Group>()
  /** One a master, by its address, opened when it is first needed. */
  readonly #connections = new Map<string, NoticeConnection>()
  readonly #pause: SubscriptionPause
  /** Connections and timers must not keep the async context of the request that needs them first. */
  readonly #scope = new AsyncResource('cattlegrid')
  #cancelCheck: CancelTimer | undefined
  #closed = false

  constructor(setup: SubscriptionSetup, nodes: LinkNodes) {
    const { channel, runtime, announce } = setup
    this.#setup = setup
    this.#nodes = nodes
    this.#channels = new ShardedChannels(channel)
    this.#pause = new SubscriptionPause(channel, runtime, (message) => announce({ kind: 'warning', message }))
  }

  /** True while notices about the key arrive. */
  arriveFor(key: string): boolean {
    return this.#groups.get(this.#channels.groupOf(key))?.subscribed === true
  }

  /** Subscribes to the key's group, if it is not yet. */
  follow(key: string): void {
    this.#groupOf(key)
  }

  /**
   * As `follow`, for a key whose lease is about to be acquired: if it ends before the group is subscribed,
   * its waiters are woken then.
   */
  expect(key: string): void {
    const group = this.#groupOf(key)
    if (!group.subscribed && group.awaited.size < AWAITED_KEYS) group.awaited.add(key)
  }

  close(): void {
    this.#closed = true
    this.#cancelCheck?.()
    this.#groups.clear()
    this.#closeUnused()
  }

  #groupOf(key: string): Group {
    const number = this.#channels.groupOf(key)
    return this.#groups.get(number) ?? this.#scope.runInAsyncScope(() => this.#addGroup(number))
  }

  #addGroup(number: number): Group {
    const channel = this.#channels.ofGroup(number)
    const group: Group = { channel, at: undefined, subscribed: false, lost: false, awaited: new Set() }
    if (this.#closed) return group
    this.#groups.set(number, group)
    void this.#subscribe(group)
    if (this.#cancelCheck === undefined) this.#checkIn(CHECK_INTERVAL)
    return group
  }

  async #subscribe(group: Group): Promise<void> {
    const address = this.#nodes.addressOf(group.channel)
    const connection = this.#pause.isOver ? this.#connectionTo(address) : undefined
    if (connection === undefined) return
    const at = (group.at = { address, connection })
    try {
      await connection.subscribe((client) => client.subscribeSharded(group.channel, this.#receive))
      if (group.at === at) this.#markSubscribed(group)
    } catch (error) {
      if (group.at === at) this.#refused(group, error)
    }
  }

  /** Undefined while the cluster is not connected to the master at the address. */
  #connectionTo(address: string): NoticeConnection | undefined {
    const known = this.#connections.get(address)
    const client = known === undefined ? this.#nodes.subscriberAt(address) : undefined
    if (client === undefined) return known
    const { runtime, maxSilence } = this.#setup
    const connection: NoticeConnection = new NoticeConnection({
      client,
      runtime,
      maxSilence,
      onMoved: (channel) => this.#moved(channel, connection),
      onEnd: () => this.#ended(address, connection),
    })
    this.#connections.set(address, connection)
    return connection
  }

  #closeUnused(): void {
    const used = new Set([...this.#groups.values()].map(({ at }) => at?.connection))
    for (const [address, connection] of this.#connections) {
      if (used.has(connection)) continue
      this.#connections.delete(address)
      connection.destroy()
    }
  }

  readonly #receive = (message: string): void => {
    const notice = parseMessage(message)
    if (notice !== undefined && !this.#closed) this.#setup.announce(notice)
  }

  #markSubscribed(group: Group): void {
    group.subscribed = true
    const awaited = [...group.awaited]
    group.awaited.clear()
    // Their leases may have ended before: the flights that wait acquire them again.
    for (const key of awaited) this.#setup.announce({ kind: 'released', key })
  }

  #refused(group: Group, error: unknown): void {
    group.at = undefined
    if (this.#closed) return
    if (isRefusal(error)) this.#pause.begin(error)
    else void this.#learnMasters([group]).then(() => this.#checkIn(RETRY_DELAY))
  }

  #moved(channel: string, connection: NoticeConnection): void {
    const moved = [...this.#groups.values()].filter(
      (group) => group.channel === channel && group.at?.connection === connection,
    )
    const address = moved[0]?.at?.address
    if (address === undefined) return
    this.#lose(moved, address)
    void this.#learnMasters(moved).then(() => this.#subscribeAgain(moved))
  }

  #ended(address: string, connection: NoticeConnection): void {
    this.#connections.delete(address)
    this.#lose(
      [...this.#groups.values()].filter((group) => group.at?.connection === connection),
      address,
    )
    this.#checkIn(RETRY_DELAY)
  }

  /** Notices of these groups may be lost from now on. */
  #lose(groups: readonly Group[], address: string): void {
    const subscribed = groups.filter((group) => group.subscribed)
    for (const group of groups) group.at = undefined
    for (const group of subscribed) {
      group.subscribed = false
      group.lost = true
    }
    if (subscribed.length > 0) this.#announce('disconnected', address)
  }

  #announce(kind: 'disconnected' | 'connected', part: string): void {
    if (!this.#closed) this.#setup.announce({ kind, part })
  }

  /**
   * The client learns the present masters of the groups from redirections. All who hear an empty message
   * ignore it.
   */
  async #learnMasters(groups: readonly Group[]): Promise<void> {
    const { link } = this.#setup
    await Promise.allSettled(groups.map(({ channel }) => link.send(channel, ['SPUBLISH', channel, ''], 'text')))
  }

  async #subscribeAgain(groups: readonly Group[]): Promise<void> {
    if (this.#closed) return
    const unsubscribed = groups.filter(({ at }) => at === undefined)
    await Promise.all(unsubscribed.map((group) => this.#subscribe(group)))
    const back = unsubscribed.filter((group) => group.subscribed && group.lost)
    for (const group of back) group.lost = false
    for (const address of addressesOf(back)) this.#announce('connected', address)
  }

  #checkIn(delay: number): void {
    if (this.#closed) return
    this.#cancelCheck?.()
    this.#cancelCheck = this.#scope.runInAsyncScope(() => this.#setup.runtime.schedule(this.#check, delay))
  }

  readonly #check = (): void => {
    this.#checkIn(CHECK_INTERVAL)
    const groups = [...this.#groups.values()]
    const moved = groups.filter(({ at, channel }) => at !== undefined && this.#nodes.addressOf(channel) !== at.address)
    for (const address of addressesOf(moved))
      this.#lose(
        moved.filter(({ at }) => at?.address === address),
        address,
      )
    this.#closeUnused()
    void this.#subscribeAgain(groups)
  }
}

function addressesOf(groups: readonly Group[]): ReadonlySet<string> {
  return new Set(groups.map(({ at }) => at?.address ?? ''))
}
