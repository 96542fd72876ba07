import { AsyncResource } from 'node:async_hooks'
import type { CancelTimer, Notice, Runtime, StorePart } from '@cattlegrid/core'
import { ShardedUnsupportedError } from './link/client.ts'
import { isErrorReply, type Link, type LinkNodes } from './link/link.ts'
import type { RedisKeys } from './redis-keys.ts'
import { ShardConnection } from './shard-connection.ts'
import { parseMessage } from './wake-message.ts'

/** The time between two checks whether each group is subscribed at its present master, ms. */
const CHECK_INTERVAL = 2000
/** The time after which a lost connection is replaced, ms. */
const RETRY_DELAY = 250
/** The time for which nothing is subscribed after the server or the client has refused it, ms. */
const REFUSAL_PAUSE = 30_000
/** So many keys of a group are woken when it is heard; the flights that wait for others poll. */
const AWAITED_KEYS = 100

/** A group of slots about whose keys this process wants the notices. */
interface Group {
  readonly number: number
  readonly channel: string
  /** Where its channel is subscribed, or is about to be. */
  at: { readonly address: string; readonly connection: ShardConnection } | undefined
  heard: boolean
  /** True if listeners were told that its notices may be lost. */
  lost: boolean
  /** The keys whose lease a caller may wait for since before the group was heard. */
  readonly awaited: Set<string>
}

export interface ShardedNoticesSetup {
  readonly link: Link
  readonly nodes: LinkNodes
  readonly redisKeys: RedisKeys
  readonly runtime: Runtime
  /** How long a server may answer nothing before its connection is replaced, ms. */
  readonly maxSilence: number | false
  readonly announce: (notice: Notice) => void
}

/**
 * The store's subscriptions to the channels of groups of slots: those that it was asked about, each at its present master, by one connection a master. A
 * group is heard from the reply to its subscription until the connection is lost or the channel moves to another master.
 */
export class ShardedNotices {
  readonly #setup: ShardedNoticesSetup
  readonly #groups = new Map<number, Group>()
  /** By address. */
  readonly #connections = new Map<string, ShardConnection>()
  /** Connections and timers must not keep the async context of the request that needs them first. */
  readonly #scope = new AsyncResource('cattlegrid')
  #cancelCheck: CancelTimer | undefined
  #pausedUntil = 0
  #warned = false
  #closed = false

  constructor(setup: ShardedNoticesSetup) {
    this.#setup = setup
  }

  /** True while notices about the key arrive; otherwise it begins to subscribe to the key's group. */
  hears(key: string): boolean {
    return this.#groupOf(key).heard
  }

  /** As `hears`, for a key whose lease is about to be acquired: if it ends before the group is heard, its waiters are woken then. */
  await(key: string): void {
    const group = this.#groupOf(key)
    if (!group.heard && group.awaited.size < AWAITED_KEYS) group.awaited.add(key)
  }

  close(): void {
    this.#closed = true
    this.#cancelCheck?.()
    for (const connection of this.#connections.values()) connection.destroy()
    this.#connections.clear()
    this.#groups.clear()
  }

  #groupOf(key: string): Group {
    const number = this.#setup.redisKeys.groupOf(key)
    return this.#groups.get(number) ?? this.#scope.runInAsyncScope(() => this.#addGroup(number))
  }

  #addGroup(number: number): Group {
    const channel = this.#setup.redisKeys.channelOfGroup(number)
    const group: Group = { number, channel, at: undefined, heard: false, lost: false, awaited: new Set() }
    if (this.#closed) return group
    this.#groups.set(number, group)
    void this.#subscribe(group)
    if (this.#cancelCheck === undefined) this.#checkIn(CHECK_INTERVAL)
    return group
  }

  /** Returns true if the group is heard then. */
  async #subscribe(group: Group): Promise<boolean> {
    const { nodes, runtime } = this.#setup
    const address = nodes.addressOf(group.channel)
    const connection = runtime.now() < this.#pausedUntil ? undefined : this.#connectionTo(address)
    if (connection === undefined) return false
    const at = (group.at = { address, connection })
    try {
      await connection.subscribe(group.channel)
      if (group.at !== at) return false
      this.#heard(group)
      return true
    } catch (error) {
      if (group.at === at) this.#refused(group, error)
      return false
    }
  }

  #connectionTo(address: string): ShardConnection | undefined {
    const known = this.#connections.get(address)
    if (known !== undefined) return known
    const { nodes, runtime, maxSilence } = this.#setup
    const client = nodes.subscriberAt(address)
    if (client === undefined) return undefined
    const connection: ShardConnection = new ShardConnection({
      client,
      runtime,
      maxSilence,
      onMessage: (message) => this.#receive(message),
      onMoved: (channel) => this.#moved(channel, connection),
      onEnd: () => this.#ended(address, connection),
    })
    this.#connections.set(address, connection)
    return connection
  }

  #receive(message: string): void {
    const notice = parseMessage(message)
    if (notice !== undefined && !this.#closed) this.#setup.announce(notice)
  }

  #heard(group: Group): void {
    group.heard = true
    const awaited = [...group.awaited]
    group.awaited.clear()
    // Their leases may have ended before: the flights that wait acquire them again.
    for (const key of awaited) this.#setup.announce({ kind: 'released', key })
  }

  #refused(group: Group, error: unknown): void {
    group.at = undefined
    if (this.#closed) return
    if (isRefusal(error)) this.#pause(error)
    else void this.#learnMasters([group]).then(() => this.#checkIn(RETRY_DELAY))
  }

  /** A refusal of one group is one of all: subscribing goes on later, for example once the server has been replaced by a newer one. */
  #pause(error: unknown): void {
    this.#pausedUntil = this.#setup.runtime.now() + REFUSAL_PAUSE
    if (this.#warned) return
    this.#warned = true
    const reason = error instanceof Error ? error.message : String(error)
    const { channel } = this.#setup.redisKeys
    this.#setup.announce({
      kind: 'warning',
      message:
        `Sharded notices do not arrive (${reason}): they need Redis 7 on every node, a client with sharded channels, and the rights +ssubscribe, +spublish and ` +
        `&${channel}:*. Until then, no near copies are kept and waiters poll.`,
    })
  }

  #moved(channel: string, connection: ShardConnection): void {
    const moved = [...this.#groups.values()].filter(
      (group) => group.channel === channel && group.at?.connection === connection,
    )
    const address = moved[0]?.at?.address
    if (address === undefined) return
    this.#lose(moved, address)
    void this.#learnMasters(moved).then(() => this.#subscribeAgain(moved))
  }

  #ended(address: string, connection: ShardConnection): void {
    this.#connections.delete(address)
    this.#lose(
      [...this.#groups.values()].filter((group) => group.at?.connection === connection),
      address,
    )
    this.#checkIn(RETRY_DELAY)
  }

  /** Notices of these groups may be lost from now on. */
  #lose(groups: readonly Group[], address: string): void {
    const heard = groups.filter((group) => group.heard)
    for (const group of groups) group.at = undefined
    for (const group of heard) {
      group.heard = false
      group.lost = true
    }
    this.#announcePart('disconnected', address, heard)
  }

  #announcePart(kind: 'disconnected' | 'connected', address: string, groups: readonly Group[]): void {
    if (groups.length === 0 || this.#closed) return
    const { redisKeys, announce } = this.#setup
    const numbers = new Set(groups.map(({ number }) => number))
    const part: StorePart = { name: address, includes: (key) => numbers.has(redisKeys.groupOf(key)) }
    announce({ kind, part })
  }

  /** The client learns the present masters of the groups from redirections. All who hear an empty message ignore it. */
  async #learnMasters(groups: readonly Group[]): Promise<void> {
    const { link } = this.#setup
    await Promise.allSettled(groups.map(({ channel }) => link.send(channel, ['SPUBLISH', channel, ''], 'text')))
  }

  async #subscribeAgain(groups: readonly Group[]): Promise<void> {
    if (this.#closed) return
    const unsubscribed = groups.filter(({ at }) => at === undefined)
    await Promise.all(unsubscribed.map((group) => this.#subscribe(group)))
    const back = unsubscribed.filter((group) => group.heard && group.lost)
    for (const group of back) group.lost = false
    for (const address of addressesOf(back))
      this.#announcePart(
        'connected',
        address,
        back.filter(({ at }) => at?.address === address),
      )
  }

  #checkIn(delay: number): void {
    if (this.#closed) return
    this.#cancelCheck?.()
    this.#cancelCheck = this.#scope.runInAsyncScope(() => this.#setup.runtime.schedule(this.#check, delay))
  }

  readonly #check = (): void => {
    this.#checkIn(CHECK_INTERVAL)
    const { nodes } = this.#setup
    const groups = [...this.#groups.values()]
    const moved = groups.filter(({ at, channel }) => at !== undefined && nodes.addressOf(channel) !== at.address)
    for (const address of addressesOf(moved))
      this.#lose(
        moved.filter(({ at }) => at?.address === address),
        address,
      )
    for (const [address, connection] of this.#connections) {
      if (groups.some(({ at }) => at?.connection === connection)) continue
      this.#connections.delete(address)
      connection.destroy()
    }
    void this.#subscribeAgain(groups)
  }
}

function addressesOf(groups: readonly Group[]): ReadonlySet<string> {
  return new Set(groups.map(({ at }) => at?.address ?? ''))
}

/** True if subscribing again would be refused, too. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof ShardedUnsupportedError || (isErrorReply(error) && /^(?:NOPERM|ERR unknown)/.test(error.message))
  )
}
