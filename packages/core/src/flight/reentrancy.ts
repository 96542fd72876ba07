import { ReentrantLoadError } from '../errors.ts'
import { closeScope, currentScope, enterScope, openScope } from '../runtime/async-scopes.ts'
import { SlotMap } from '../maps/slot-map.ts'

/** One cache, as the re-entrancy check sees it. */
export class LoadOwner {
  /** Its running loaders, by key: more than one of a key after an invalidation. */
  readonly running: SlotMap<Set<LoadScope>> = new SlotMap()
  /** The owners of a load that runs inside no other. */
  readonly alone: ReadonlySet<LoadOwner> = new Set([this])
}

/** A key, and the cache that loads it: two caches of a process may have the same key. */
export interface LoadedKey {
  readonly owner: LoadOwner
  readonly key: string
}

/**
 * The async context of a running loader. Plain data: the loaders of several copies of this package run inside
 * one another.
 */
export interface LoadScope {
  readonly owner: LoadOwner
  /** The keys that this loader loads: one, or those of a batch. */
  readonly keys: readonly string[]
  /** The scope around it, so that a deep recursion takes no more than one object for each load. */
  readonly outer: LoadScope | undefined
  /** The caches whose loads this loader runs inside of, its own included. */
  readonly owners: ReadonlySet<LoadOwner>
  /**
   * The keys that this loader awaits, one object for each call. A load that was begun inside this one, but is
   * not awaited, is none of them. Undefined until the first: most await none.
   */
  waits: Set<LoadedKey> | undefined
  /**
   * True once the load has ended: what it left running, such as a timer or a connection, is not inside
   * any load.
   */
  ended: boolean
}

/**
 * Opens the scope of a loader of `keys`. `outer`: the scope of the loader that began it. Its caller must call
 * `closeLoadScope` when the load has ended.
 */
export function openLoadScope(outer: LoadScope | undefined, owner: LoadOwner, keys: readonly string[]): LoadScope {
  const scope = { owner, keys, outer, owners: ownersInside(outer, owner), waits: undefined, ended: false }
  for (const key of keys) {
    const scopes = owner.running.get(key)
    if (scopes === undefined) owner.running.set(key, new Set([scope]))
    else scopes.add(scope)
  }
  openScope()
  return scope
}

function ownersInside(outer: LoadScope | undefined, owner: LoadOwner): ReadonlySet<LoadOwner> {
  if (outer === undefined) return owner.alone
  return outer.owners.has(owner) ? outer.owners : new Set([...outer.owners, owner])
}

/** The scope of the loader that the current code runs inside of. */
export function currentLoadScope(): LoadScope | undefined {
  const scope = currentScope('load') as LoadScope | undefined
  return scope?.ended === false ? scope : undefined
}

/** True when the current code runs inside a load of `owner`. */
export function isInsideLoadOf(owner: LoadOwner): boolean {
  return currentLoadScope()?.owners.has(owner) === true
}

/** Runs a loader inside `scope`. */
export function runInLoad<T>(scope: LoadScope, loader: () => T): T {
  return enterScope('load', scope, loader)
}

/** Ends a scope that was opened. */
export function closeLoadScope(scope: LoadScope): void {
  scope.ended = true
  const { running } = scope.owner
  for (const key of scope.keys) {
    const scopes = running.get(key)
    scopes?.delete(scope)
    if (scopes?.size === 0) running.delete(key)
  }
  closeScope()
}

/**
 * @throws ReentrantLoadError when the current code runs inside a load of `key`, awaited or not: each load
 * would begin the next one, without end.
 */
export function throwIfInside(owner: LoadOwner, key: string): void {
  const inner = currentLoadScope()
  if (inner === undefined || owner.running.get(key) === undefined) return
  for (const scope of scopesAround(inner))
    if (!scope.ended && scope.owner === owner && scope.keys.includes(key))
      throw new ReentrantLoadError([...keysAround(inner), key])
}

/**
 * Records that the loader of `scope` awaits a key. Whoever closes a cycle is refused: the loader that asks
 * last, or the one that awaits last.
 *
 * @throws ReentrantLoadError when the load of the key waits for that loader, directly or through others.
 */
export function recordWait(scope: LoadScope, wait: LoadedKey): void {
  if (scope.ended) return
  const cycle = findCycle(wait, scope)
  if (cycle !== undefined) throw new ReentrantLoadError([...keysAround(scope), ...cycle])
  scope.waits ??= new Set()
  scope.waits.add(wait)
}

interface SearchStep {
  readonly loaded: LoadedKey
  readonly previous: SearchStep | undefined
}

/**
 * Breadth-first search of the waits, from `target` to the loader of `inner`. Returns the keys on the path, to
 * the first one around `inner`. A key that nobody loads, or whose loader waits for nothing, as most, ends it
 * at once: a recursion and a batch search nothing.
 */
function findCycle(target: LoadedKey, inner: LoadScope): readonly string[] | undefined {
  const steps: SearchStep[] = [{ loaded: target, previous: undefined }]
  const visited = new Set<LoadScope>()
  for (const step of steps) {
    for (const scope of step.loaded.owner.running.get(step.loaded.key) ?? []) {
      if (scope === inner) return keysTo(step, inner)
      if (visited.has(scope)) continue
      visited.add(scope)
      for (const loaded of scope.waits ?? []) steps.push({ loaded, previous: step })
    }
  }
  return undefined
}

/**
 * The keys of a path, to the first that a loader around `inner` loads: from there on they would repeat the
 * chain of those.
 */
function keysTo(last: SearchStep, inner: LoadScope): readonly string[] {
  const path: LoadedKey[] = []
  for (let step: SearchStep | undefined = last; step !== undefined; step = step.previous) path.push(step.loaded)
  path.reverse()
  const around = new Set(scopesAround(inner))
  const end = path.findIndex(({ owner, key }) => [...(owner.running.get(key) ?? [])].some((at) => around.has(at)))
  return path.slice(0, end + 1).map(({ key }) => key)
}

/** `inner` and the scopes around it, outermost first. */
function scopesAround(inner: LoadScope): readonly LoadScope[] {
  const scopes: LoadScope[] = []
  for (let scope: LoadScope | undefined = inner; scope !== undefined; scope = scope.outer) scopes.push(scope)
  return scopes.toReversed()
}

/** The keys of the loaders around the current code, outermost first: of a batch, the first one. */
function keysAround(inner: LoadScope): readonly string[] {
  return scopesAround(inner).map(({ keys }) => keys[0] ?? '')
}
