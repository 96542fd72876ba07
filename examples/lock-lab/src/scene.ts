import { Actors } from './actors.ts'
import type { Name } from './caller.ts'
import { type Lock, TTL } from './lock.ts'
import type { Fault, Happening, Move, Verb } from './move.ts'
import { letPass } from './server-time.ts'
import type { Step } from './step.ts'
import type { Client } from './worlds/connections.ts'
import type { World } from './worlds/world.ts'

/** What passes on the callers' clocks while a lock of theirs runs out, seconds. */
const LONGER_THAN_A_LOCK = 12

/** One play of an interleaving on one lock, and what was seen of it. Nothing is known beforehand: all of it comes from replies. */
export class Scene {
  /** Who believes to hold the lock, and may: it was granted, and neither given back nor outlived since. */
  readonly holders: Set<Name> = new Set()
  /** Who was granted the lock at any time. */
  readonly granted: Set<Name> = new Set()
  /** When the lock was to end, each time somebody looked. */
  readonly ends: number[] = []
  /** What was read from the cache last. */
  value: unknown
  /** Whether somebody had more to send when the pause came. */
  paused = false

  readonly #lock: Lock
  readonly #world: World
  readonly #namespace: string
  readonly #pauseAfter: number
  readonly #actors: Actors
  #source = 'v1'

  /** `pauseAfter`: how many commands who begins something sends before the pause. */
  constructor(lock: Lock, world: World, namespace: string, pauseAfter: number) {
    this.#lock = lock
    this.#world = world
    this.#namespace = namespace
    this.#pauseAfter = pauseAfter
    this.#actors = new Actors(world.connections, namespace)
  }

  get steps(): readonly Step[] {
    return this.#actors.steps
  }

  async play(moves: readonly Move[]): Promise<void> {
    await this.#world.prepare()
    for (const move of moves) await this.#make(move)
  }

  async #make(move: Move): Promise<void> {
    if (move.length === 1) return await this.#happen(move[0])
    const [who, act] = move
    if (act === 'begins to') {
      this.#begin(who, move[2])
      this.paused = await this.#actors.goOn(who, this.#pauseAfter)
    } else {
      if (act !== 'goes on') this.#begin(who, act)
      await this.#actors.goOn(who)
    }
  }

  #begin(who: Name, verb: Verb): void {
    const lock = this.#lock
    const actors = this.#actors
    const caller = actors.called(who)
    switch (verb) {
      case 'retry':
        if (this.granted.has(who)) return
        return actors.begin(who, lock.acquire(caller), (won) => this.#acquired(who, won))
      case 'acquire':
        return actors.begin(who, lock.acquire(caller), (won) => this.#acquired(who, won))
      case 'release':
        return actors.begin(who, lock.release(caller), () => this.#released(who))
      case 'renew':
        if (lock.renew === undefined) throw new Error(`${lock.name} cannot be renewed`)
        return actors.begin(who, lock.renew(caller), () => undefined)
      case 'load':
        caller.loaded = this.#source
        return this.#tell({ who, text: `loads ${this.#source} from the source` })
      case 'write':
        return actors.begin(who, lock.write(caller, caller.loaded), () => undefined)
      case 'read':
        return actors.begin(who, lock.read(caller), (value) => void (this.value = value))
      case 'invalidate':
        return actors.begin(who, lock.invalidate(caller), () => undefined)
      case 'look':
        return actors.begin(who, lock.end(caller), (end) => void this.ends.push(end))
    }
  }

  #acquired(who: Name, won: boolean): string {
    if (!won) return 'is refused'
    this.holders.add(who)
    this.granted.add(who)
    return 'holds the lock'
  }

  #released(who: Name): undefined {
    this.holders.delete(who)
  }

  #tell(step: Step): void {
    this.#actors.tell(step)
  }

  async #happen(what: Happening): Promise<void> {
    switch (what) {
      case 'time passes':
        return await this.#timePasses()
      case 'half of it passes':
        return await this.#halfPasses()
      case 'A dies':
        this.holders.delete('A')
        return this.#tell({ who: what })
      case 'B has a clock that is ahead':
        this.#actors.called('B').clockAhead = LONGER_THAN_A_LOCK
        return this.#tell({ who: what })
      case 'B runs in the process of A':
        this.#actors.called('B').processId = this.#actors.called('A').processId
        return this.#tell({ who: what })
      case 'the source changes':
        this.#source = 'v2'
        return this.#tell({ who: what })
      case 'the lock is evicted':
      case 'the server restarts':
      case 'the replica is cut off':
      case 'the replica takes over':
        return await this.#suffer(what)
    }
  }

  async #timePasses(): Promise<void> {
    this.#actors.clock.seconds += LONGER_THAN_A_LOCK
    this.holders.clear()
    const left = await letPass(this.#lab, this.#lockKey, Infinity)
    this.#tell({ who: 'time passes', text: `PTTL ${this.#lock.key.key}`, reply: left })
  }

  async #halfPasses(): Promise<void> {
    this.#actors.clock.seconds += LONGER_THAN_A_LOCK / 2
    await letPass(this.#lab, this.#lockKey, TTL / 2)
    this.#tell({ who: 'half of it passes' })
  }

  async #suffer(fault: Fault): Promise<void> {
    await this.#world.suffer(fault)
    if (fault === 'the replica is cut off') return this.#tell({ who: fault })
    const there = await this.#lab.sendCommand(['EXISTS', this.#lockKey])
    this.#tell({ who: fault, text: `EXISTS ${this.#lock.key.key}`, reply: there })
  }

  get #lab(): Client {
    return this.#world.connections.of('lab')
  }

  get #lockKey(): string {
    return `${this.#namespace}:${this.#lock.key.key}`
  }
}
