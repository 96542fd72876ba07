import { type Lock, TTL } from './lock.ts'
import { advanceTime, type CallerName, type Client, type Fault, type LabServer } from './servers.ts'
import { Callers, type LabEvent, type Step } from './steps.ts'

/** `retries`: acquires, unless it was granted the lock already. `inspects`: reads when the lock ends. */
type Operation =
  'acquires' | 'retries' | 'releases' | 'renews' | 'reads' | 'loads' | 'writes' | 'invalidates' | 'inspects' | 'dies'

/**
 * One line of an interleaving. A caller that pauses, as a process does that is stopped, swapped out or collecting garbage, stops between two
 * of its commands and `continues` with the rest later. The lab tries every place.
 */
export type Action = `${CallerName} ${Operation | 'continues'}` | `${CallerName} ${Operation}, pausing` | LabEvent

/** By how much the clocks advance while a lock expires, seconds. */
const LONGER_THAN_A_LOCK = 12

/** One run of an interleaving on one lock. All that it knows comes from replies. */
export class InterleavingRun {
  /** The callers that have reason to believe that they hold the lock: they were granted it, and have neither released nor outlived it. */
  readonly holders: Set<CallerName> = new Set()
  /** The callers that were granted the lock at any time. */
  readonly granted: Set<CallerName> = new Set()
  /** When the lock was to end, each time a caller inspected it. */
  readonly ends: number[] = []
  /** The value that was read from the cache last. */
  value: unknown
  /** True if the paused caller had commands left. */
  paused = false

  readonly #lock: Lock
  readonly #server: LabServer
  readonly #lockKey: string
  readonly #pauseAfter: number
  readonly #callers: Callers
  #source = 'v1'

  /** `pauseAfter`: how many commands a caller sends before it pauses. */
  constructor(lock: Lock, server: LabServer, namespace: string, pauseAfter: number) {
    this.#lock = lock
    this.#server = server
    this.#lockKey = `${namespace}:${lock.key.key}`
    this.#pauseAfter = pauseAfter
    this.#callers = new Callers(server.connections, namespace)
  }

  get steps(): readonly Step[] {
    return this.#callers.steps
  }

  async perform(actions: readonly Action[]): Promise<void> {
    await this.#server.prepare?.()
    for (const action of actions) {
      const [, name, operation, pausing] = /^([ABC]) (\w+)(, pausing)?$/.exec(action) ?? []
      if (name === undefined) await this.#happen(action as LabEvent)
      else await this.#act(name as CallerName, operation as Operation | 'continues', pausing !== undefined)
    }
  }

  async #act(name: CallerName, operation: Operation | 'continues', pausing: boolean): Promise<void> {
    if (operation !== 'continues') this.#start(name, operation)
    if (pausing) this.paused = await this.#callers.proceed(name, this.#pauseAfter)
    else await this.#callers.proceed(name)
  }

  #start(name: CallerName, operation: Operation): void {
    const lock = this.#lock
    const callers = this.#callers
    const caller = callers.get(name)
    switch (operation) {
      case 'retries':
        return this.granted.has(name) ? undefined : this.#start(name, 'acquires')
      case 'acquires':
        return callers.start(name, lock.acquire(caller), (granted) => this.#acquired(name, granted))
      case 'releases':
        return callers.start(name, lock.release(caller), () => void this.holders.delete(name))
      case 'renews':
        if (lock.renew === undefined) throw new Error(`${lock.name} cannot be renewed`)
        return callers.start(name, lock.renew(caller), () => undefined)
      case 'loads':
        caller.loaded = this.#source
        return this.#record({ who: name, text: `loads ${this.#source} from the source` })
      case 'writes':
        return callers.start(name, lock.write(caller, caller.loaded), () => undefined)
      case 'reads':
        return callers.start(name, lock.read(caller), (value) => void (this.value = value))
      case 'invalidates':
        return callers.start(name, lock.invalidate(caller), () => undefined)
      case 'inspects':
        return callers.start(name, lock.endsAt(caller), (end) => void this.ends.push(end))
      case 'dies':
        this.holders.delete(name)
        return this.#record({ who: name, text: 'dies' })
    }
  }

  #acquired(name: CallerName, granted: boolean): string {
    if (!granted) return 'is refused'
    this.holders.add(name)
    this.granted.add(name)
    return 'holds the lock'
  }

  async #happen(event: LabEvent): Promise<void> {
    const callers = this.#callers
    switch (event) {
      case 'time passes':
        callers.clock.seconds += LONGER_THAN_A_LOCK
        this.holders.clear()
        return this.#recordCommand(event, 'PTTL', await advanceTime(this.#lab, this.#lockKey, Infinity))
      case 'half the time passes':
        callers.clock.seconds += LONGER_THAN_A_LOCK / 2
        await advanceTime(this.#lab, this.#lockKey, TTL / 2)
        break
      case 'B has a clock that is ahead':
        callers.get('B').clockAhead = LONGER_THAN_A_LOCK
        break
      case 'B runs in the process of A':
        callers.get('B').processId = callers.get('A').processId
        break
      case 'the source changes':
        this.#source = 'v2'
        break
      case 'the lock is evicted':
      case 'the server restarts':
      case 'the replica is cut off':
      case 'the replica takes over':
        return await this.#inject(event)
    }
    this.#record({ who: event })
  }

  async #inject(fault: Fault): Promise<void> {
    const happen = this.#server.faults[fault]
    if (happen === undefined) throw new Error(`On this server it cannot happen that ${fault}`)
    await happen()
    if (fault === 'the replica is cut off') this.#record({ who: fault })
    else this.#recordCommand(fault, 'EXISTS', await this.#lab.sendCommand(['EXISTS', this.#lockKey]))
  }

  /** Shows what is left of the lock after the event. */
  #recordCommand(who: LabEvent, command: string, reply: unknown): void {
    this.#record({ who, text: `${command} ${this.#lock.key.key}`, reply })
  }

  #record(step: Step): void {
    this.#callers.steps.push(step)
  }

  get #lab(): Client {
    return this.#server.connections.of('lab')
  }
}
