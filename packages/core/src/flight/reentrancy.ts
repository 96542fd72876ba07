import { AsyncLocalStorage } from 'node:async_hooks'
import { ReentrantLoadError } from '../errors.ts'

/** A key that is being loaded, and whose key it is: two caches of a process may have the same. */
export interface ActiveLoad {
  readonly owner: object
  readonly key: string
}

/** The loads around the present code, from the outermost on. */
export interface Chain {
  readonly loads: readonly ActiveLoad[]
  /** The load is over: what it left running, a timer or a connection, is inside of nothing any more. */
  over: boolean
}

const NONE: readonly ActiveLoad[] = []

const storage = new AsyncLocalStorage<Chain>()
let entered = 0

/** What the loads of this process wait for: by owner and key, each wait an object of its own. */
const waits = new Map<object, Map<string, Set<ActiveLoad>>>()

/** The loads that the present code runs inside of, in whichever caches of this process. */
export function activeLoads(): readonly ActiveLoad[] {
  const chain = storage.getStore()
  return chain === undefined || chain.over ? NONE : chain.loads
}

/** Runs a loader inside `chain`, until its maker ends it with the load: see `leave`. */
export function runInLoad<T>(chain: Chain, loader: () => T): T {
  entered += 1
  return storage.run(chain, loader)
}

/**
 * Ends a chain that was entered. With the last one the storage is switched off until the next load: as long as it is on, Node attends to
 * every promise of the process, which more than doubles the cost of each.
 */
export function endLoad(chain: Chain): void {
  chain.over = true
  entered -= 1
  if (entered === 0) storage.disable()
}

/** @throws ReentrantLoadError when the present code is the load of `key`, or of what that load waits for in this process. */
export function throwIfReentrant(owner: object, key: string): void {
  const around = activeLoads()
  const way = around.length === 0 ? undefined : findCycle({ owner, key }, around)
  if (way !== undefined) throw new ReentrantLoadError([...around.map((load) => load.key), ...way])
}

/** Notes that the load around the present code waits for `key`. Returns how to take that back; undefined where there is no load around. */
export function noteWait(owner: object, key: string): (() => void) | undefined {
  const waiting = activeLoads().at(-1)
  if (waiting === undefined) return undefined
  const targets = targetsOf(waiting) ?? addTargets(waiting)
  const wait = { owner, key }
  targets.add(wait)
  return () => {
    targets.delete(wait)
    if (targets.size === 0) dropTargets(waiting)
  }
}

interface Step {
  readonly at: ActiveLoad
  readonly from: Step | undefined
}

/** The keys over which waiting for `target` comes back to one of `ends`; each load is looked at once. */
function findCycle(target: ActiveLoad, ends: readonly ActiveLoad[]): readonly string[] | undefined {
  const steps: Step[] = [{ at: target, from: undefined }]
  const looked = new Map<object, Set<string>>()
  for (const step of steps) {
    const { owner, key } = step.at
    if (ends.some((end) => end.owner === owner && end.key === key)) return keysTo(step)
    const keys = looked.get(owner) ?? new Set()
    if (keys.has(key)) continue
    looked.set(owner, keys.add(key))
    for (const next of targetsOf(step.at) ?? []) steps.push({ at: next, from: step })
  }
  return undefined
}

function keysTo(last: Step): readonly string[] {
  const keys: string[] = []
  for (let step: Step | undefined = last; step !== undefined; step = step.from) keys.unshift(step.at.key)
  return keys
}

function targetsOf({ owner, key }: ActiveLoad): Set<ActiveLoad> | undefined {
  return waits.get(owner)?.get(key)
}

function addTargets({ owner, key }: ActiveLoad): Set<ActiveLoad> {
  const keys = waits.get(owner) ?? new Map<string, Set<ActiveLoad>>()
  const targets = new Set<ActiveLoad>()
  waits.set(owner, keys.set(key, targets))
  return targets
}

function dropTargets({ owner, key }: ActiveLoad): void {
  const keys = waits.get(owner)
  keys?.delete(key)
  if (keys?.size === 0) waits.delete(owner)
}
