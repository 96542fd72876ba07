import { limitThatFollows } from '../../src/policy/load-limit.ts'
import type { LoadLimit } from '../../src/policy/policy.ts'
import type { SimulatedSource, SimulatedTime } from './simulated-source.ts'

const { first: firstLoadLimit, next: nextLimit, samples: WINDOW_SAMPLES } = limitThatFollows

/** Every process reports its samples and takes its share of the limit this often, ms. */
const BEAT = 50
/** A process without a share asks for one at most this often, ms. */
const ASK = 10

/** The callers of one key. */
export interface Flight {
  readonly key: number
  waiting: number
  readonly callers: ((kind: 'value' | 'failed') => void)[]
}

/** One load of the window: the first loads that begin after a change of the limit. */
interface Sample {
  readonly began: number
  took?: number
}

interface Member {
  share: number
  running: number
  beatAt: number
  grantedAt: number
  /** Number of its last window. */
  window: number
  readonly queue: Flight[]
  readonly samples: Set<Sample>
}

export interface FleetOptions {
  readonly processes: number
  /** A number is a fixed limit of the fleet. */
  readonly limit: 'auto' | number
  readonly known?: LoadLimit | undefined
  readonly fails: (key: number) => boolean
  readonly onLoaded: (key: number) => void
  readonly trace?: ((line: string) => void) | undefined
}

/** The processes of a fleet, which share one limit on loads at once. Followers of one key wait for one load. */
export class SimulatedFleet {
  state: LoadLimit
  loads = 0
  private readonly members: Member[]
  private readonly flights = new Map<number, Flight>()
  private window = 0
  private windowBegan = 0
  private bound = false
  private sampled = 0
  private running = 0
  private runningTime = 0
  private countedAt = 0

  private readonly time: SimulatedTime
  private readonly source: SimulatedSource
  private readonly random: () => number
  private readonly options: FleetOptions

  constructor(time: SimulatedTime, source: SimulatedSource, random: () => number, options: FleetOptions) {
    this.time = time
    this.source = source
    this.random = random
    this.options = options
    this.state = options.known ?? firstLoadLimit
    this.members = Array.from({ length: options.processes }, () => newMember())
    for (const member of this.members) this.time.after(random() * BEAT, () => this.keepBeating(member))
  }

  call(key: number, end: (kind: 'value' | 'failed') => void): Flight {
    let flight = this.flights.get(key)
    if (flight === undefined) {
      flight = { key, waiting: 0, callers: [] }
      this.flights.set(key, flight)
      const member = this.members[Math.floor(this.random() * this.members.length)]
      if (member !== undefined) this.queueAt(member, flight)
    }
    flight.waiting++
    flight.callers.push(end)
    return flight
  }

  private queueAt(member: Member, flight: Flight): void {
    member.queue.push(flight)
    if (member.running >= member.share) this.bound = true
    this.time.after(0, () => {
      if (member.running >= member.share && this.time.now - member.beatAt > ASK) this.beat(member)
      else this.begin(member)
    })
  }

  private keepBeating(member: Member): void {
    this.beat(member)
    this.time.after(BEAT * (0.9 + 0.2 * this.random()), () => this.keepBeating(member))
  }

  private beat(member: Member): void {
    const { now } = this.time
    member.beatAt = now
    const limit = this.options.limit === 'auto' ? this.adjust() : this.options.limit
    const others = this.members.reduce((sum, one) => (one === member ? sum : sum + Math.max(one.share, one.running)), 0)
    member.share = Math.min(fairShare(this.members, limit).get(member) ?? 0, Math.max(0, limit - others))
    if (member.share > 0) member.grantedAt = now
    if (member.window !== this.window) member.samples.clear()
    member.window = this.window
    this.begin(member)
    if (member.queue.length > 0) this.bound = true
  }

  /** Closes the window if it has enough samples. */
  private adjust(): number {
    const { members, state, time } = this
    this.count()
    const samples = members.flatMap((member) => (member.window === this.window ? [...member.samples] : []))
    const times = samples.flatMap(({ took }) => took ?? [])
    const ages = samples.filter(({ took }) => took === undefined).map(({ began }) => time.now - began)
    const running = this.runningTime / Math.max(1, time.now - this.windowBegan)
    const next = nextLimit(state, { times, ages, running, bound: this.bound })
    if (next !== undefined) {
      this.options.trace?.(traced(time.now, state, next, times, running, this.bound))
      this.state = next
      this.window += 1
      this.windowBegan = time.now
      this.runningTime = 0
      this.bound = false
      this.sampled = 0
    }
    return Math.max(1, Math.floor(this.state.limit))
  }

  private count(): void {
    this.runningTime += this.running * (this.time.now - this.countedAt)
    this.countedAt = this.time.now
  }

  private begin(member: Member): void {
    while (member.queue.length > 0 && member.running < member.share) {
      const flight = takeBest(member.queue)
      if (flight === undefined) return
      if (flight.waiting > 0) this.load(member, flight)
      else this.flights.delete(flight.key)
    }
  }

  private load(member: Member, flight: Flight): void {
    const { key } = flight
    const sample: Sample = { began: this.time.now }
    this.count()
    this.loads++
    this.running++
    member.running++
    const current = member.window === this.window && this.sampled < WINDOW_SAMPLES
    if (current && this.loads % Math.ceil(this.state.limit / WINDOW_SAMPLES) === 0) {
      member.samples.add(sample)
      this.sampled++
    }
    const fails = this.options.fails(key)
    const done = (): void => {
      this.count()
      this.running--
      member.running--
      sample.took = this.time.now - sample.began
      if (fails && member.samples.delete(sample) && member.window === this.window) this.sampled--
      this.flights.delete(key)
      if (!fails) this.options.onLoaded(key)
      for (const end of flight.callers) end(fails ? 'failed' : 'value')
      this.begin(member)
    }
    if (fails) this.time.after(1, done)
    else this.source.load(key, done)
  }
}

function newMember(): Member {
  return { share: 2, running: 0, beatAt: -ASK, grantedAt: 0, window: 0, queue: [], samples: new Set() }
}

/** The hottest flight, the newest of equals. */
function takeBest(queue: Flight[]): Flight | undefined {
  let [best, most] = [queue.length - 1, -1]
  for (const [place, { waiting }] of queue.entries()) if (waiting >= most) [best, most] = [place, waiting]
  return queue.splice(best, 1)[0]
}

/** Max-min fair shares; what cannot be divided goes to those that had no share for the longest time. */
function fairShare(members: readonly Member[], limit: number): Map<Member, number> {
  const parts = members.map((member) => ({ member, wants: member.running + member.queue.length, share: 0 }))
  const total = parts.reduce((sum, { wants }) => sum + wants, 0)
  const spare = Math.floor((limit - total) / members.length)
  if (spare >= 0) return new Map(parts.map(({ member, wants }) => [member, wants + spare]))
  parts.sort((one, other) => one.wants - other.wants)
  let left = limit
  for (const [place, part] of parts.entries()) {
    part.share = Math.min(part.wants, Math.floor(left / (parts.length - place)))
    left -= part.share
  }
  const hungry = parts.filter(({ wants, share }) => share < wants)
  hungry.sort((one, other) => one.member.grantedAt - other.member.grantedAt)
  for (const part of hungry.slice(0, left)) part.share++
  return new Map(parts.map(({ member, share }) => [member, share]))
}

function traced(
  now: number,
  { limit, base }: LoadLimit,
  next: LoadLimit,
  times: readonly number[],
  running: number,
  bound: boolean,
): string {
  const median = times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0
  const numbers = [now, limit, next.limit, median, base ?? 0, next.base ?? 0, running].map((x) => x.toFixed(1))
  return `${numbers.join(' ')} n=${times.length} t=${next.tested} f=${next.flat} ${bound ? 'bound' : ''}`
}
