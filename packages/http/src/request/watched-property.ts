/** Learns of each read and each assignment of a property. */
export interface PropertyObserver {
  /** Returns what the reader gets. */
  onRead(value: unknown): unknown
  onAssign(): void
}

/** By object and name: nested layers watch the same request. */
const watched = new WeakMap<object, Map<string, WatchedProperty>>()

/** Reports the reads of a property to `observer`; undefined where it cannot be watched. End it with `stop(observer)`. */
export function watchProperty(object: object, name: string, observer: PropertyObserver): WatchedProperty | undefined {
  let properties = watched.get(object)
  if (properties === undefined) watched.set(object, (properties = new Map<string, WatchedProperty>()))
  let property = properties.get(name)
  if (property?.active !== true) {
    const own = Object.getOwnPropertyDescriptor(object, name)
    if (own?.configurable === false || !Object.isExtensible(object)) return undefined
    properties.set(name, (property = new WatchedProperty(object, name, own)))
  }
  property.add(observer)
  return property
}

/**
 * A property of an object whose reads and assignments are reported. Two things differ from the object without it: it has the property also
 * where it had none, and an assignment to a read-only property succeeds.
 */
export class WatchedProperty {
  readonly #object: object
  readonly #name: string
  readonly #observers: PropertyObserver[] = []
  /** The object's own property, as it is without the observers. */
  #own: PropertyDescriptor | undefined

  constructor(object: object, name: string, own: PropertyDescriptor | undefined) {
    this.#object = object
    this.#name = name
    this.#own = own
    this.#define()
  }

  add(observer: PropertyObserver): void {
    this.#observers.push(observer)
  }

  /** Leaves the property with its present value once nobody observes it. */
  stop(observer: PropertyObserver): void {
    this.#observers.splice(this.#observers.indexOf(observer), 1)
    if (this.#observers.length > 0 || !this.active) return
    if (this.#own === undefined) Reflect.deleteProperty(this.#object, this.#name)
    else Object.defineProperty(this.#object, this.#name, this.#own)
  }

  /** True if the object still has the property as it is defined here. */
  get active(): boolean {
    return Object.getOwnPropertyDescriptor(this.#object, this.#name)?.get === this.#get
  }

  /** True if other code has defined the property anew: its reads are no longer reported. */
  get redefined(): boolean {
    return !this.active && Object.hasOwn(this.#object, this.#name)
  }

  readonly #get = (): unknown => {
    const property = this.#property
    let value: unknown = property?.get === undefined ? property?.value : property.get.call(this.#object)
    for (const observer of this.#observers) value = observer.onRead(value)
    return value
  }

  readonly #set = (value: unknown): void => {
    for (const observer of this.#observers) observer.onAssign()
    const property = this.#property
    if (property?.set !== undefined) return property.set.call(this.#object, value)
    this.#own = { configurable: true, writable: true, enumerable: this.#own?.enumerable ?? true, value }
    this.#define()
  }

  get #property(): PropertyDescriptor | undefined {
    return this.#own ?? inheritedDescriptor(this.#object, this.#name)
  }

  #define(): void {
    const enumerable = this.#own?.enumerable ?? false
    Object.defineProperty(this.#object, this.#name, { configurable: true, enumerable, get: this.#get, set: this.#set })
  }
}

function inheritedDescriptor(object: object, name: string): PropertyDescriptor | undefined {
  const owner = Object.getPrototypeOf(object) as object | null
  if (owner === null) return undefined
  return Object.getOwnPropertyDescriptor(owner, name) ?? inheritedDescriptor(owner, name)
}
