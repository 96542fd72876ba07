import type { IncomingMessage } from 'node:http'
import { processWide } from '@cattlegrid/core/extend'
import { type Caller, CapturedStack } from '../request/caller.ts'
import {
  CLIENT_FIELDS,
  type ClientReads,
  hasOnlyKeyedCookies,
  PERSONAL_FIELDS,
  PERSONAL_PROPERTIES,
  type PersonalRead,
  type PersonalReadRule,
} from '../request/client-reads.ts'
import { watchCookies } from './watched-cookies.ts'
import { readUnreported, watchFields } from '../request/watched-fields.ts'
import { type PropertyObserver, watchObject, type WatchedObject } from '../request/watched-object.ts'

/** The properties that name who has sent the credentials. */
const OF_CREDENTIALS: readonly string[] = ['user', 'auth']
/** A package that sets one of these provides it: its own reads of them do not make the response personal. */
const PROVIDED: readonly string[] = ['session', 'sessionID', 'cookies', 'signedCookies']
/** The reads by which such a package learns what it provides. */
const READ_BY_PROVIDERS: readonly string[] = [...PROVIDED, 'cookie']
const COOKIES: readonly string[] = ['cookies', 'signedCookies']
/** The reads that are kept until it is decided which of them count. */
const MAX_READS = 64

interface Read {
  readonly name: string
  readonly expression: string
  readonly stack: CapturedStack
}

/** The reads of each request that are watched now: those of nested layers. */
const watching = processWide('personal-reads/1', () => new WeakMap<IncomingMessage, Set<PersonalReads>>())

/**
 * Counts the reads that a layer inside allows or has in its key as made, for the layers outside: they see
 * none of them when it answers from its entries, and their keys do not hold what its key holds.
 */
export function countAllowedReads(
  req: IncomingMessage,
  { allowed, keyedCookies, keyedFields, ownsCredentials }: PersonalReadRule,
): void {
  const counted = [...allowed, ...keyedFields]
  if (counted.length === 0 && keyedCookies.length === 0 && !ownsCredentials) return
  const layers = watching.get(req)
  if (layers === undefined) return
  const owned = ownsCredentials && readUnreported(req.headers, 'authorization') !== undefined ? OF_CREDENTIALS : []
  for (const layer of layers) layer.count([...counted, ...owned], keyedCookies)
}

/** The objects by which handlers know the client of a request; see `Exchange`. */
interface ClientObjects {
  readonly req: IncomingMessage
  /** May be `req`. */
  readonly request: unknown
  readonly state?: object | undefined
}

interface Watch {
  readonly object: WatchedObject
  /** How code calls the object. */
  readonly expression: string
  readonly observer: PropertyObserver
}

/**
 * The reads by which a handler learns who its client is, from the start of the handler to the end of its
 * response. Those of outer layers do not count, nor does a package's read of cookies or a session that it
 * provides itself, since what it provides is watched: where the framework calls it. What it does for the
 * application, as a utility, is the application's. Reads of a user or of credentials count even in the
 * package that sets them: it may respond with the user, or reject the request. So do all reads of a package
 * that is the application: that of the main module, or one that declares the route.
 */
export class PersonalReads implements ClientReads {
  readonly #keyedCookies: readonly string[]
  readonly #application: PersonalReadRule['application']
  readonly #req: IncomingMessage
  readonly #names: readonly string[]
  readonly #watches: Watch[] = []
  readonly #stops: (() => void)[] = []
  readonly #reads: Read[] = []
  /** The assignments of `PROVIDED` properties: their packages provide them. */
  readonly #assignments: CapturedStack[] = []
  #cookies: WeakMap<object, object> | undefined
  /** Calls of outer layers that are running. */
  #outside = 0
  #paused = false
  #selecting: readonly string[] = []
  #found: PersonalRead | undefined

  constructor({ request, req, state }: ClientObjects, rule: PersonalReadRule) {
    const { headers } = req
    this.#keyedCookies = rule.keyedCookies
    this.#application = rule.application
    const owned = rule.ownsCredentials && headers.authorization !== undefined ? OF_CREDENTIALS : []
    const allowed = [...rule.allowed, ...rule.keyedFields, ...owned, ...(rule.ownsCredentials ? ['authorization'] : [])]
    const counts = (name: string): boolean => !allowed.includes(name)
    const names = PERSONAL_PROPERTIES.filter(counts)
    const fields = rule.watchesFields ? PERSONAL_FIELDS.filter(counts) : []
    this.#req = req
    this.#names = [...names, ...fields]
    watching.set(req, (watching.get(req) ?? new Set()).add(this))
    this.#watch(req, 'req', names)
    if (request !== req && request instanceof Object) this.#watch(request, 'request', names)
    if (state !== undefined) this.#watch(state, 'state', names)
    if (fields.length === 0) return
    this.#watchFields(headers, 'headers', fields)
    // A request over HTTP/2, or one that Fastify injects in tests, has none.
    const { headersDistinct } = req as Partial<IncomingMessage>
    if (headersDistinct !== undefined) this.#watchFields(headersDistinct, 'headersDistinct', fields)
  }

  get found(): PersonalRead | undefined {
    this.#found ??= this.#firstRead ?? this.#unwatched
    return this.#found
  }

  selectedBy(names: readonly string[]): void {
    this.#selecting = names
  }

  #isSelecting(name: string): boolean {
    return (CLIENT_FIELDS as readonly string[]).includes(name) && this.#selecting.includes(name)
  }

  outside<T>(call: () => T): T {
    this.#outside += 1
    try {
      return call()
    } finally {
      this.#outside -= 1
    }
  }

  pause(): void {
    this.#paused = true
  }

  resume(): void {
    this.#paused = false
  }

  /**
   * Counts one of these names, or a cookie of these, as read: a layer inside has it in its key or allows its
   * handler the read.
   */
  count(names: readonly string[], cookies: readonly string[]): void {
    const ofCookies = cookies.some((cookie) => !this.#keyedCookies.includes(cookie)) ? COOKIES : []
    const name = [...names, ...ofCookies].find((each) => this.#names.includes(each))
    if (name !== undefined) this.#note(`req.${name}`, name, countAllowedReads)
  }

  stop(): void {
    const layers = watching.get(this.#req)
    if (layers?.delete(this) === true && layers.size === 0) watching.delete(this.#req)
    // Later, a property that was redefined cannot be told from one that is not watched any more.
    void this.found
    for (const { object, observer } of this.#watches.splice(0)) object.stop(observer)
    for (const stop of this.#stops.splice(0)) stop()
  }

  #watch(object: object, expression: string, names: readonly string[]): void {
    const observer = this.#observer(expression)
    this.#watches.push({ object: watchObject(object, names, observer), expression, observer })
  }

  #watchFields(fields: object, expression: string, names: readonly string[]): void {
    this.#stops.push(watchFields(fields, names, this.#observer(expression)))
  }

  #observer(expression: string): PropertyObserver {
    return {
      onRead: (name, value, callee) =>
        this.#listens ? this.#onRead(`${expression}.${name}`, name, value, callee) : value,
      onAssign: (name, callee) => {
        const counts = this.#listens && PROVIDED.includes(name) && this.#assignments.length < MAX_READS
        if (counts) this.#assignments.push(new CapturedStack(callee))
      },
    }
  }

  #onRead(expression: string, name: string, value: unknown, callee: Function): unknown {
    const keyed = this.#keyedCookies
    if (keyed.length > 0 && COOKIES.includes(name) && typeof value === 'object' && value !== null)
      return this.#cookiesOf(value, (trap) => this.#note(expression, name, trap))
    if (name !== 'cookie' || !hasOnlyKeyedCookies(value, keyed)) this.#note(expression, name, callee)
    return value
  }

  /** Returns the same proxy for the same cookies: code may compare them. */
  #cookiesOf(cookies: object, note: (callee: Function) => void): object {
    this.#cookies ??= new WeakMap()
    const watched = this.#cookies.get(cookies) ?? watchCookies(cookies, this.#keyedCookies, note)
    this.#cookies.set(cookies, watched)
    return watched
  }

  /** Keeps a read. When the list is full and no read in it counts, empties it. */
  #note(expression: string, name: string, callee: Function): void {
    if (!this.#listens) return
    if (this.#reads.length === MAX_READS && this.found === undefined) this.#reads.length = 0
    this.#reads.push({ name, expression, stack: new CapturedStack(callee) })
  }

  get #firstRead(): PersonalRead | undefined {
    for (const { name, expression, stack } of this.#reads) {
      if (this.#isSelecting(name)) continue
      const { caller } = stack
      if (!READ_BY_PROVIDERS.includes(name) || !this.#provides(caller))
        return { name, expression, position: caller.position }
    }
    return undefined
  }

  #provides({ package: reader, isCalledByFramework }: Caller): boolean {
    if (reader === undefined || !isCalledByFramework || this.#application.includes(reader)) return false
    return this.#assignments.some(({ caller }) => caller.package === reader && caller.isCalledByFramework)
  }

  /** A property whose reads cannot be seen counts as read. */
  get #unwatched(): PersonalRead | undefined {
    for (const { object, expression, observer } of this.#watches) {
      const name = object.unwatched(observer)
      if (name !== undefined)
        return {
          name,
          expression: `${expression}.${name}`,
          position: 'code that cannot be seen, because a layer has defined the property',
        }
    }
    return undefined
  }

  get #listens(): boolean {
    return this.#outside === 0 && !this.#paused && this.#found === undefined
  }
}
