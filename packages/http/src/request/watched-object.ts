import { processWide } from '@cattlegrid/core/extend'

/** Learns of each read and each assignment of the properties that it watches. */
export interface PropertyObserver {
  /**
   * Returns what the reader gets. `callee`: the function that the reader called, below which its
   * stack begins.
   */
  onRead(name: string, value: unknown, callee: Function): unknown
  onAssign(name: string, callee: Function): void
}

/**
 * The accessor of a watched property, as it is defined on an object that has the property, and on one that
 * lacks it.
 */
interface Accessors {
  readonly get: (this: Watchable) => unknown
  readonly set: (this: Watchable, value: unknown) => void
  readonly enumerable: PropertyDescriptor
  readonly nonEnumerable: PropertyDescriptor
}

interface Watchable {
  readonly [WATCHED]: WatchedObject
}

/**
 * Where a watched object holds its observers: a symbol, because a proxy of the object and derived objects
 * find it.
 */
const WATCHED = Symbol.for('cattlegrid.watched/1')

/**
 * By property name, in whichever copy of this package: a watch recognises its own accessors by them. All
 * objects share them: V8 then gives objects with the same properties one shape, and keeps them fast.
 */
const accessors = processWide('accessors/1', () => new Map<string, Accessors>())

/** Reports the reads and assignments of these properties to `observer`, until `stop(observer)`. */
export function watchObject(object: object, names: readonly string[], observer: PropertyObserver): WatchedObject {
  const watched = watchedOf(object) ?? new WatchedObject(object)
  watched.add(names, observer)
  return watched
}

/**
 * An object of whose properties some are watched. It differs from the object as it was: it has those
 * properties also where it had none, after the end of the watch too, and an assignment to a read-only one is
 * ignored where strict code would get an error.
 */
export class WatchedObject {
  readonly #object: object
  readonly #watches: { readonly names: readonly string[]; readonly observer: PropertyObserver }[] = []
  /** The object's own properties, as they are without the watch. */
  readonly #own = new Map<string, PropertyDescriptor>()

  constructor(object: object) {
    this.#object = object
    if (Object.isExtensible(object)) Object.defineProperty(object, WATCHED, { value: this })
  }

  add(names: readonly string[], observer: PropertyObserver): void {
    for (const name of names) this.#define(name)
    this.#watches.push({ names, observer })
  }

  stop(observer: PropertyObserver): void {
    const index = this.#watches.findIndex((watch) => watch.observer === observer)
    if (index !== -1) this.#watches.splice(index, 1)
  }

  /**
   * A property of `observer` whose reads are not reported, as it cannot be defined anew, or other code has
   * done so; undefined: there is none.
   */
  unwatched(observer: PropertyObserver): string | undefined {
    const watch = this.#watches.find((candidate) => candidate.observer === observer)
    return watch?.names.find((name) => {
      const own = ownProperty(this.#object, name)
      return own !== undefined && !isWatching(own, name)
    })
  }

  read(name: string, receiver: unknown): unknown {
    const callee = accessorsOf(name).get
    let value = this.#valueOf(name, receiver)
    for (const { names, observer } of this.#watches)
      if (names.includes(name)) value = observer.onRead(name, value, callee)
    return value
  }

  assign(name: string, value: unknown, receiver: object): void {
    const callee = accessorsOf(name).set
    for (const { names, observer } of this.#watches) if (names.includes(name)) observer.onAssign(name, callee)
    const property = this.#own.get(name) ?? inherited(this.#object, name)?.property
    if (property !== undefined && !isWatching(property, name)) {
      if (property.set !== undefined) return property.set.call(receiver, value)
      if (property.get !== undefined || property.writable === false) return
    }
    const isDerived = Object.prototype.isPrototypeOf.call(this.#object, receiver)
    const enumerable = isDerived || (this.#own.get(name)?.enumerable ?? true)
    const assigned = { configurable: true, writable: true, enumerable, value }
    if (isDerived) Object.defineProperty(receiver, name, assigned)
    else this.#redefine(name, assigned)
  }

  #valueOf(name: string, receiver: unknown): unknown {
    const own = this.#own.get(name)
    if (own !== undefined) return own.get === undefined ? own.value : own.get.call(receiver)
    const found = inherited(this.#object, name)
    if (found === undefined) return undefined
    const { owner, property } = found
    // The shared accessor would find this object again, not the one that it inherits from.
    if (isWatching(property, name)) return watchedOf(owner)?.read(name, owner)
    return property.get === undefined ? property.value : property.get.call(receiver)
  }

  #define(name: string): void {
    if (!Object.isExtensible(this.#object)) return
    const own = ownProperty(this.#object, name)
    if (own !== undefined && (own.configurable === false || isWatching(own, name))) return
    if (own === undefined) this.#own.delete(name)
    this.#redefine(name, own)
  }

  #redefine(name: string, own: PropertyDescriptor | undefined): void {
    if (own !== undefined) this.#own.set(name, own)
    const { enumerable, nonEnumerable } = accessorsOf(name)
    Object.defineProperty(this.#object, name, own?.enumerable === true ? enumerable : nonEnumerable)
  }
}

function watchedOf(object: object): WatchedObject | undefined {
  return Object.hasOwn(object, WATCHED) ? (object as Watchable)[WATCHED] : undefined
}

/** A descriptor is made only of a property that exists: most watched ones do not. */
function ownProperty(object: object, name: string): PropertyDescriptor | undefined {
  return Object.hasOwn(object, name) ? Object.getOwnPropertyDescriptor(object, name) : undefined
}

function accessorsOf(name: string): Accessors {
  let made = accessors.get(name)
  if (made === undefined) accessors.set(name, (made = makeAccessors(name)))
  return made
}

function makeAccessors(name: string): Accessors {
  function get(this: Watchable): unknown {
    return this[WATCHED].read(name, this)
  }
  function set(this: Watchable, value: unknown): void {
    this[WATCHED].assign(name, value, this)
  }
  const property = { configurable: true, get, set }
  return { get, set, enumerable: { ...property, enumerable: true }, nonEnumerable: { ...property, enumerable: false } }
}

function isWatching({ get }: { readonly get?: unknown }, name: string): boolean {
  return get !== undefined && get === accessors.get(name)?.get
}

function inherited(object: object, name: string): { owner: object; property: PropertyDescriptor } | undefined {
  const owner = Object.getPrototypeOf(object) as object | null
  if (owner === null) return undefined
  const property = Object.getOwnPropertyDescriptor(owner, name)
  return property === undefined ? inherited(owner, name) : { owner, property }
}
