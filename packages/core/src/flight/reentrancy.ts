import { ReentrantLoadError } from '../errors.ts'
import { closeScope, currentScope, enterScope, openScope } from '../runtime/async-scopes.ts'
import { processWide } from '../runtime/process-wide.ts'

/** A key, and the cache that loads it: two caches of a process may have the same key. */
interface LoadedKey {
  readonly owner: object
  readonly key: string
}

/** The async context of a running loader. Plain data: the loaders of several copies of this package run inside one another. */
export interface LoadScope {
  readonly owner: object
  /** The keys that this loader loads: one, or those of a batch. */
  readonly keys: readonly string[]
  /** The scope around it, so that a deep recursion takes no more than one object for each load. */
  readonly outer: LoadScope | undefined
  /** The caches whose loads this loader runs inside of, its own included. */
  readonly owners: ReadonlySet<object>
  readonly depth: number
  /** A scope further out: `isAround` follows it (Myers, "An applicative random-access stack", 1983). Undefined for the outermost scope. */
  readonly jump: LoadScope | undefined
  /** The keys that this loader waits for, one object for each wait. */
  readonly waits: Set<LoadedKey>
  /** True once the load has ended: what it left running, such as a timer or a connection, is not inside any load. */
  ended: boolean
}

/** The running loaders, by owner and key: more than one after an invalidation. Of all copies of this package. */
const running = processWide('loads/1', () => new Map<object, Map<string, Set<LoadScope>>>())

/** The scope of a loader of `keys`. `outer`: the scope of the loader that waits for it. */
export function newLoadScope(outer: LoadScope | undefined, owner: object, keys: readonly string[]): LoadScope {
  const owners = outer?.owners.has(owner) === true ? outer.owners : new Set([...(outer?.owners ?? []), owner])
  const depth = outer === undefined ? 0 : outer.depth + 1
  return { owner, keys, outer, owners, depth, jump: outer && jumpOfInner(outer), waits: new Set(), ended: false }
}

function jumpOfInner(scope: LoadScope): LoadScope {
  const near = scope.jump
  const far = near?.jump
  return near !== undefined && far !== undefined && scope.depth - near.depth === near.depth - far.depth ? far : scope
}

/** True when `inner` is `scope`, or runs inside of it. Takes a number of steps that is logarithmic in the depth. */
function isAround(scope: LoadScope, inner: LoadScope): boolean {
  let at: LoadScope | undefined = inner
  while (at !== undefined && at.depth > scope.depth)
    at = at.jump !== undefined && at.jump.depth >= scope.depth ? at.jump : at.outer
  return at === scope
}

/** The scope of the loader that the current code runs inside of. */
export function currentLoadScope(): LoadScope | undefined {
  const scope = currentScope('load') as LoadScope | undefined
  return scope?.ended === false ? scope : undefined
}

/** True when the current code runs inside a load of `owner`. */
export function isInsideLoadOf(owner: object): boolean {
  return currentLoadScope()?.owners.has(owner) === true
}

/** Runs a loader inside `scope`. Its caller must call `leaveLoadScope` when the load has ended. */
export function runInLoad<T>(scope: LoadScope, loader: () => T): T {
  const loads = running.get(scope.owner) ?? new Map<string, Set<LoadScope>>()
  running.set(scope.owner, loads)
  for (const key of scope.keys) {
    const scopes = loads.get(key)
    if (scopes === undefined) loads.set(key, new Set([scope]))
    else scopes.add(scope)
  }
  openScope()
  return enterScope('load', scope, loader)
}

/** Ends a scope that `runInLoad` entered. */
export function leaveLoadScope(scope: LoadScope): void {
  scope.ended = true
  const loads = running.get(scope.owner)
  for (const key of scope.keys) {
    const scopes = loads?.get(key)
    scopes?.delete(scope)
    if (scopes?.size === 0) loads?.delete(key)
  }
  if (loads?.size === 0) running.delete(scope.owner)
  closeScope()
}

/** @throws ReentrantLoadError when the current code runs inside the load of `key`, or inside a load that the load of `key` waits for. */
export function throwIfReentrant(owner: object, key: string): void {
  const scope = currentLoadScope()
  const cycle = scope && findCycle({ owner, key }, scope)
  if (cycle !== undefined) throw new ReentrantLoadError([...keysAround(scope), ...cycle])
}

/** Records that the current loader waits for `key`. Returns the function that removes the record; undefined outside of any load. */
export function recordWait(owner: object, key: string): (() => void) | undefined {
  const scope = currentLoadScope()
  if (scope === undefined) return undefined
  const wait = { owner, key }
  scope.waits.add(wait)
  return () => void scope.waits.delete(wait)
}

interface SearchStep {
  readonly loaded: LoadedKey
  readonly previous: SearchStep | undefined
}

/**
 * Breadth-first search of the waits, from `target` to a loader around `inner`. Returns the keys on the path. A key that nobody loads, as most, ends it at
 * once: a recursion and a batch search nothing.
 */
function findCycle(target: LoadedKey, inner: LoadScope): readonly string[] | undefined {
  const steps: SearchStep[] = [{ loaded: target, previous: undefined }]
  const visited = new Set<LoadScope>()
  for (const step of steps) {
    for (const scope of running.get(step.loaded.owner)?.get(step.loaded.key) ?? []) {
      if (isAround(scope, inner)) return keysTo(step)
      if (visited.has(scope)) continue
      visited.add(scope)
      for (const loaded of scope.waits) steps.push({ loaded, previous: step })
    }
  }
  return undefined
}

function keysTo(last: SearchStep): readonly string[] {
  const keys: string[] = []
  for (let step: SearchStep | undefined = last; step !== undefined; step = step.previous) keys.push(step.loaded.key)
  return keys.toReversed()
}

/** The keys of the loaders around the current code, outermost first: of a batch, the first one. */
function keysAround(inner: LoadScope | undefined): readonly string[] {
  const keys: string[] = []
  for (let scope = inner; scope !== undefined; scope = scope.outer) keys.push(scope.keys[0] ?? '')
  return keys.toReversed()
}
