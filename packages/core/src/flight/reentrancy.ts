import { ReentrantLoadError } from '../errors.ts'
import { closeScope, currentScope, enterScope, openScope } from '../runtime/async-scopes.ts'
import { processWide } from '../runtime/process-wide.ts'

/** A running load: a key, and the cache that loads it. Two caches of a process may have the same key. */
export interface ActiveLoad {
  readonly owner: object
  readonly key: string
}

/** The async context of a running loader. */
export interface LoadScope {
  /** The loads that this loader serves: one, or those of a batch. */
  readonly own: readonly ActiveLoad[]
  /** The loads around it, outermost first, and its own. */
  readonly loads: readonly ActiveLoad[]
  /** True once the load has ended: what it left running, such as a timer or a connection, is not inside any load. */
  ended: boolean
}

const NONE: readonly ActiveLoad[] = []

/** For each load that waits, by owner and key: the keys that it waits for. One object per wait; of the caches of all copies of this package. */
const waits = processWide('waits/1', () => new Map<object, Map<string, Set<ActiveLoad>>>())

/** The scope of a loader that serves `own`, inside the loads `enclosing`. */
export function newLoadScope(enclosing: readonly ActiveLoad[], own: readonly ActiveLoad[]): LoadScope {
  return { own, loads: enclosing.length === 0 ? own : [...enclosing, ...own], ended: false }
}

/** The loads that the current code runs inside of, in all caches of this process. */
export function activeLoads(): readonly ActiveLoad[] {
  return currentLoadScope()?.loads ?? NONE
}

function currentLoadScope(): LoadScope | undefined {
  const scope = currentScope('load') as LoadScope | undefined
  return scope?.ended === false ? scope : undefined
}

/** Runs a loader inside `scope`. Its caller must call `leaveLoadScope` when the load has ended. */
export function runInLoad<T>(scope: LoadScope, loader: () => T): T {
  openScope()
  return enterScope('load', scope, loader)
}

/** Ends a scope that `runInLoad` entered. */
export function leaveLoadScope(scope: LoadScope): void {
  scope.ended = true
  closeScope()
}

/** @throws ReentrantLoadError when the current code runs inside the load of `key`, or inside a load that the load of `key` waits for. */
export function throwIfReentrant(owner: object, key: string): void {
  const enclosing = activeLoads()
  const cycle = enclosing.length === 0 ? undefined : findCycle({ owner, key }, enclosing)
  if (cycle !== undefined) throw new ReentrantLoadError([...enclosing.map((load) => load.key), ...cycle])
}

/**
 * Records that the current loader, and with it each load that it serves, waits for `key`. Returns the function that removes the record;
 * undefined outside of any load.
 */
export function recordWait(owner: object, key: string): (() => void) | undefined {
  const waiting = currentLoadScope()?.own
  if (waiting === undefined) return undefined
  const wait = { owner, key }
  for (const load of waiting) (targetsOf(load) ?? addTargets(load)).add(wait)
  return () => {
    for (const load of waiting) {
      const targets = targetsOf(load)
      targets?.delete(wait)
      if (targets?.size === 0) dropTargets(load)
    }
  }
}

interface SearchStep {
  readonly load: ActiveLoad
  readonly previous: SearchStep | undefined
}

/** Breadth-first search of the waits, from `target` to one of `ends`. Returns the keys on the path. */
function findCycle(target: ActiveLoad, ends: readonly ActiveLoad[]): readonly string[] | undefined {
  const steps: SearchStep[] = [{ load: target, previous: undefined }]
  const visited = new Map<object, Set<string>>()
  for (const step of steps) {
    const { owner, key } = step.load
    if (ends.some((end) => end.owner === owner && end.key === key)) return keysTo(step)
    const keys = visited.get(owner) ?? new Set()
    if (keys.has(key)) continue
    visited.set(owner, keys.add(key))
    for (const next of targetsOf(step.load) ?? []) steps.push({ load: next, previous: step })
  }
  return undefined
}

function keysTo(last: SearchStep): readonly string[] {
  const keys: string[] = []
  for (let step: SearchStep | undefined = last; step !== undefined; step = step.previous) keys.unshift(step.load.key)
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
