import type { NewEntry } from '../../entry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { BoundedMap } from '../../maps/bounded-map.ts'
import type { Away } from '../answers.ts'
import type { Store, StoreNodes, StorePart } from '../store.ts'
import type { Deadline } from './deadline.ts'
import { NodeGuard } from './node-guard.ts'

/** So many nodes have a guard of their own: more than a cluster has, with those that left it lately. */
const NODES_KEPT = 1_000
/** The name of the node of a store that has no others. */
const ONLY_NODE = ''

export interface NodeGuardsSetup {
  readonly store: Store
  readonly runtime: Runtime
  readonly deadline: Deadline
  /** The time limit of a step, ms. */
  readonly timeout: number
  /** The longest wait of a step for its turn, ms. */
  readonly patience: number
  /** Called when a node is not asked any more, or answers again; `part` is undefined for the only node. */
  readonly onChange: (state: 'away' | 'back', part: StorePart | undefined, cause: unknown) => void
}

/** The guards of a store's nodes, each made when a step first needs its node. */
export class NodeGuards {
  readonly #setup: NodeGuardsSetup
  readonly #nodes: StoreNodes | undefined
  /** By name. */
  readonly #guards = new BoundedMap<string, NodeGuard>(NODES_KEPT, (forgotten) => {
    for (const guard of forgotten) guard.end()
  })

  constructor(setup: NodeGuardsSetup) {
    this.#setup = setup
    this.#nodes = setup.store.nodes
  }

  ofKey(key: string): NodeGuard {
    return this.#guardAt(this.#nodes === undefined ? ONLY_NODE : this.#nodes.ofKey(key))
  }

  ofTags(): NodeGuard {
    return this.#guardAt(this.#nodes?.ofTags() ?? ONLY_NODE)
  }

  ofRefreshBudget(): NodeGuard {
    return this.#guardAt(this.#nodes?.ofRefreshBudget() ?? ONLY_NODE)
  }

  /** A write of an entry with tags asks their node, too. */
  ofEntryTags({ tags }: NewEntry): NodeGuard | undefined {
    return tags.length === 0 ? undefined : this.ofTags()
  }

  /** The answer for now of a step that needs all nodes; undefined while each of them is sent steps. */
  get refusal(): Away | undefined {
    return this.#all.find((guard) => guard.refusal !== undefined)?.refusal
  }

  /** True when some step has waited for its turn since that moment. */
  waitedSince(moment: number): boolean {
    return this.#all.some((guard) => guard.waitedSince(moment))
  }

  /** Pings the away nodes now instead of later. */
  probe(): void {
    for (const guard of this.#all) guard.probe()
  }

  end(): void {
    for (const guard of this.#all) guard.end()
  }

  get #all(): readonly NodeGuard[] {
    return [...this.#guards.values()]
  }

  #guardAt(node: string): NodeGuard {
    const known = this.#guards.get(node)
    if (known !== undefined) return known
    const guard = this.#makeGuard(node)
    this.#guards.set(node, guard)
    return guard
  }

  #makeGuard(node: string): NodeGuard {
    const { store, runtime, deadline, timeout, patience, onChange } = this.#setup
    const nodes = this.#nodes
    const part = nodes && { name: node, includes: (key: string) => nodes.ofKey(key) === node }
    const cause = new Error(
      nodes === undefined ? 'The store has stopped answering' : `The node ${node} has stopped answering`,
    )
    return new NodeGuard({
      runtime,
      deadline,
      timeout,
      patience,
      ping: () => (nodes === undefined ? store.ping() : nodes.ping(node)),
      onChange: (state, away) => onChange(state, part, away),
      whileOpen: { kind: 'away', why: 'breaker', cause },
    })
  }
}
