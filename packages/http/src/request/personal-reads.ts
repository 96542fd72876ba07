import type { IncomingMessage } from 'node:http'
import { Trace } from './caller.ts'
import { type PropertyObserver, watchProperty, type WatchedProperty } from './watched-property.ts'

/** Properties of a request by which middleware tells handlers about its client. */
const PROPERTIES = ['user', 'auth', 'session', 'cookies', 'signedCookies'] as const
/** The properties that name who has sent the credentials. */
const OF_CREDENTIALS: readonly string[] = ['user', 'auth']
const COOKIES: readonly string[] = ['cookies', 'signedCookies']
/** The names of `allowReads`. */
export const PERSONAL_NAMES: readonly string[] = [...PROPERTIES, 'cookie', 'authorization']

/** Which reads of a route's handlers show that a response depends on its client. */
export interface PersonalReadRule {
  readonly allowed: readonly string[]
  readonly keyedCookies: readonly string[]
  /** True if the key or an option takes care of a request's credentials. */
  readonly ownsCredentials: boolean
  /** True if reads of the fields `Cookie` and `Authorization` count. */
  readonly watchesFields: boolean
}

/** A read that shows that the response depends on its client. */
export interface PersonalRead {
  /** The name for `allowReads`. */
  readonly name: string
  /** As in the code: `req.user`, `headers.cookie`. */
  readonly expression: string
  /** Where in the code. */
  readonly place: string
}

interface Read {
  readonly name: string
  readonly expression: string
  readonly trace: Trace
}

interface Watched {
  readonly name: string
  readonly expression: string
  readonly property: WatchedProperty
  readonly observer: PropertyObserver
}

/**
 * The reads by which a handler learns who its client is, from the start of the handler to the end of its response. Three kinds do not count:
 * those of outer layers; those of a package that provides cookies or sessions itself, since what it provides is watched; and copies of all request
 * fields, as a proxy or a logger makes them. A package that provides the user may also return the user, or reject the request.
 */
export class PersonalReads {
  readonly #keyedCookies: readonly string[]
  readonly #watched: Watched[] = []
  readonly #reads: Read[] = []
  /** The assignments of properties: by packages that provide them. */
  readonly #assignments: Trace[] = []
  /** The reads of `Host`: code that reads `Host` and a watched field at one place copies all fields. */
  readonly #hostReads: Trace[] = []
  /** Calls of outer layers that are running. */
  #outside = 0
  #paused = false
  #found: PersonalRead | undefined

  /** `request`: the framework's own request object, which may be `req`. */
  constructor(request: unknown, req: IncomingMessage, rule: PersonalReadRule) {
    const { headers } = req
    this.#keyedCookies = rule.keyedCookies
    const owned = rule.ownsCredentials && headers.authorization !== undefined ? OF_CREDENTIALS : []
    const allowed = [...rule.allowed, ...owned, ...(rule.ownsCredentials ? ['authorization'] : [])]
    const counts = (name: string): boolean => !allowed.includes(name)
    for (const name of PROPERTIES.filter(counts)) {
      this.#watch(req, name, `req.${name}`)
      if (request !== req && request instanceof Object) this.#watch(request, name, `request.${name}`)
    }
    if (!rule.watchesFields) return
    for (const name of ['cookie', 'authorization'].filter(counts)) this.#watch(headers, name, `headers.${name}`)
    this.#observe(headers, 'host', 'headers.host', { onRead: (value) => this.#onHost(value), onAssign: () => {} })
  }

  /** The first read that counts; undefined: none so far. */
  get found(): PersonalRead | undefined {
    this.#found ??= this.#firstRead ?? this.#redefined
    return this.#found
  }

  /** Runs a call of an outer layer. */
  outside<T>(call: () => T): T {
    this.#outside += 1
    try {
      return call()
    } finally {
      this.#outside -= 1
    }
  }

  /** Until `resume`, only outer layers run. */
  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
  }

  stop(): void {
    // Later, a property that was redefined cannot be told from one that is not watched any more.
    void this.found
    for (const { property, observer } of this.#watched.splice(0)) property.stop(observer)
  }

  #watch(object: object, name: string, expression: string): void {
    const note = (): void => {
      this.#reads.push({ name, expression, trace: new Trace() })
    }
    const onAssign = (): void => {
      if (this.#listens && !OF_CREDENTIALS.includes(name)) this.#assignments.push(new Trace())
    }
    const onRead = (value: unknown): unknown => {
      if (!this.#listens || hasOnlyKeyedCookies(name, value, this.#keyedCookies)) return value
      if (this.#keyedCookies.length > 0 && COOKIES.includes(name) && typeof value === 'object' && value !== null)
        return watchedCookies(value, this.#keyedCookies, note)
      note()
      return value
    }
    this.#observe(object, name, expression, { onRead, onAssign })
  }

  #observe(object: object, name: string, expression: string, observer: PropertyObserver): void {
    const property = watchProperty(object, name, observer)
    if (property !== undefined) this.#watched.push({ name, expression, property, observer })
  }

  #onHost(value: unknown): unknown {
    if (this.#listens) this.#hostReads.push(new Trace())
    return value
  }

  get #firstRead(): PersonalRead | undefined {
    for (const { name, expression, trace } of this.#reads) {
      const { caller } = trace
      if (caller === undefined || this.#provides(caller.package)) continue
      const copies =
        expression.startsWith('headers.') && this.#hostReads.some((read) => read.caller?.place === caller.place)
      if (!copies) return { name, expression, place: caller.place }
    }
    return undefined
  }

  #provides(reader: string | undefined): boolean {
    return reader !== undefined && this.#assignments.some(({ caller }) => caller?.package === reader)
  }

  get #redefined(): PersonalRead | undefined {
    const redefined = this.#watched.find(({ property }) => property.redefined)
    return redefined && { ...redefined, place: 'code behind the cache that defines the property' }
  }

  get #listens(): boolean {
    return this.#outside === 0 && !this.#paused && this.#found === undefined
  }
}

/** True for a `Cookie` field whose every cookie is in the key; false if the key holds no cookies. */
function hasOnlyKeyedCookies(name: string, value: unknown, keyed: readonly string[]): boolean {
  if (name !== 'cookie' || keyed.length === 0) return false
  return typeof value !== 'string' || value.split(';').every((pair) => keyed.includes(pair.split('=')[0]?.trim() ?? ''))
}

/** The parsed cookies; `note` is called for a look at one that is not in the key, or at the list of all. */
function watchedCookies(cookies: object, keyed: readonly string[], note: () => void): object {
  const look = (name: string | symbol): void => {
    if (typeof name === 'string' && !keyed.includes(name)) note()
  }
  return new Proxy(cookies, {
    get: (target, name): unknown => {
      look(name)
      return Reflect.get(target, name)
    },
    has: (target, name) => {
      look(name)
      return name in target
    },
    getOwnPropertyDescriptor: (target, name) => {
      look(name)
      return Reflect.getOwnPropertyDescriptor(target, name)
    },
    ownKeys: (target) => {
      note()
      return Reflect.ownKeys(target)
    },
  })
}
