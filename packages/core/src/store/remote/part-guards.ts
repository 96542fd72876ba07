import type { NewEntry } from '../../entry.ts'
import { BoundedMap } from '../../maps/bounded-map.ts'
import type { Away } from '../answers.ts'
import type { Store, StorePart } from '../store.ts'
import { PartGuard, type PartGuardSetup } from './part-guard.ts'

/** The number of guards that are kept: more than a cluster has nodes, with those that left it lately. */
const MOST_GUARDS = 1_000

/** The guards of a store's parts, each made when a step first needs its part. */
export class PartGuards {
  readonly #partOf: NonNullable<Store['partOf']>
  readonly #setup: PartGuardSetup
  /** By the name of the part. */
  readonly #guards = new BoundedMap<string, PartGuard>(MOST_GUARDS, (forgotten) => {
    for (const guard of forgotten) guard.end()
  })

  constructor(store: Store, setup: PartGuardSetup) {
    const whole: StorePart = { name: '', receivesNotices: () => true, ping: () => store.ping() }
    this.#partOf = store.partOf?.bind(store) ?? (() => whole)
    this.#setup = setup
  }

  ofKey(key: string): PartGuard {
    return this.#guardOf(this.#partOf('entry', key))
  }

  ofTags(): PartGuard {
    return this.#guardOf(this.#partOf('tags'))
  }

  ofRefreshBudget(): PartGuard {
    return this.#guardOf(this.#partOf('refreshes'))
  }

  /** A write of an entry with tags asks their part, too. */
  ofEntryTags({ tags }: NewEntry): PartGuard | undefined {
    return tags.length === 0 ? undefined : this.ofTags()
  }

  /** The answer for now of a step that needs all parts; undefined while each of them is sent steps. */
  get refusal(): Away | undefined {
    return this.#all.find((guard) => guard.refusal !== undefined)?.refusal
  }

  /** True when some step has waited for its turn since that moment. */
  waitedSince(moment: number): boolean {
    return this.#all.some((guard) => guard.waitedSince(moment))
  }

  /** Pings the away parts now instead of later. */
  probe(): void {
    for (const guard of this.#all) guard.probe()
  }

  end(): void {
    for (const guard of this.#all) guard.end()
  }

  get #all(): readonly PartGuard[] {
    return [...this.#guards.values()]
  }

  #guardOf(part: StorePart): PartGuard {
    const known = this.#guards.get(part.name)
    if (known !== undefined) return known
    const guard = new PartGuard(part, this.#setup)
    this.#guards.set(part.name, guard)
    return guard
  }
}
