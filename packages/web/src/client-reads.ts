import {
  CapturedStack,
  type ClientReads,
  hasOnlyKeyedCookies,
  PERSONAL_FIELDS,
  PERSONAL_NAMES,
  PERSONAL_PROPERTIES,
  type PersonalRead,
  type PersonalReadRule,
} from '@cattlegrid/http/binding'

/** What is watched of the requests that handlers get. A place inside of another one is asked with these. */
const watched = new WeakMap<Request, FetchReads>()

/** The reads by which a handler learns who its client is: of fields, and of what layers have set. */
export class FetchReads implements ClientReads {
  /**
   * The fields that the handler's request does not hold: they are shown only where a read is noticed. Those
   * that count outside of this place are among them.
   */
  readonly fields: readonly string[]
  readonly properties: readonly string[]
  /** As in the rule. */
  readonly listsCookie: boolean
  readonly #url: string
  readonly #keyedCookies: readonly string[]
  /** The fields and properties that count here. */
  readonly #own: readonly string[]
  readonly #made: (Omit<PersonalRead, 'position'> & { readonly stack: CapturedStack })[] = []
  #selecting: readonly string[] = []
  #outside = 0
  #stopped = false
  readonly #onStop: (() => void)[] = []
  /** Of the place outside of this one. */
  readonly #outer: FetchReads | undefined

  constructor(rule: PersonalReadRule, request: Request) {
    const { allowed, keyedFields, keyedCookies, watchesFields, moreFields = [], listsCookie = false } = rule
    const owned = ownedNames(rule, request)
    const counts = (name: string): boolean => ![...allowed, ...keyedFields, ...owned].includes(name)
    const outer = watched.get(request)
    const fields = [...(watchesFields ? PERSONAL_FIELDS : []), ...moreFields].filter(counts)
    this.fields = [...new Set([...fields, ...(outer?.fields ?? [])])]
    this.properties = PERSONAL_PROPERTIES.filter(counts)
    this.#own = [...fields, ...this.properties]
    this.listsCookie = listsCookie
    this.#keyedCookies = keyedCookies
    this.#url = request.url
    this.#outer = outer
  }

  /** The fields of a request, which the handler of a place outside may have got: this is no read of it. */
  static fieldsOf(request: Request): Record<string, string> {
    return FetchReads.unnoticed(request, () => Object.fromEntries(request.headers))
  }

  /** Calls what reads a request, or what belongs to it: this is no read of the place outside. */
  static unnoticed<T>(request: Request, call: () => T): T {
    const reads = watched.get(request)
    return reads === undefined ? call() : reads.outside(call)
  }

  /** This is the request that the handler gets. */
  watch(shown: Request): void {
    watched.set(shown, this)
  }

  get found(): PersonalRead | undefined {
    const read = this.#made.find((one) => !this.#selecting.includes(one.name))
    if (read === undefined) return undefined
    const { name, expression, stack } = read
    return { name, expression, position: stack.caller.position }
  }

  selectedBy(names: readonly string[]): void {
    this.#selecting = names
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
    this.#outside += 1
  }

  resume(): void {
    this.#outside = 0
  }

  stop(): void {
    this.#stopped = true
    for (const listener of this.#onStop.splice(0)) listener()
  }

  /** Calls `listener` once no read counts any more: the response is complete, or is its own client's. */
  onStop(listener: () => void): void {
    if (this.#stopped) listener()
    else this.#onStop.push(listener)
  }

  /** `callee`: the function that the handler called. A place outside does not see who reads inside. */
  note(name: string, expression: string, callee: Function): void {
    if (this.#outside > 0) return
    const outer = this.#outer
    if (outer !== undefined) outer.note(name, expression, callee)
    // A name that only a framework's binding knows always counts.
    if (this.#stopped || (PERSONAL_NAMES.includes(name) && !this.#counts(name))) return
    if (this.#made.some((one) => one.name === name)) return
    this.#made.push({ name, expression, stack: new CapturedStack(callee) })
  }

  /** Counts what a place inside allows or has in its key as read here, and in all places outside. */
  count(rule: PersonalReadRule, request: Request, callee: Function): void {
    this.#outer?.count(rule, request, callee)
    const { allowed, keyedFields, keyedCookies } = rule
    const cookies = keyedCookies.some((name) => !this.#keyedCookies.includes(name)) ? ['cookie', 'cookies'] : []
    for (const name of [...allowed, ...keyedFields, ...ownedNames(rule, request), ...cookies])
      if (this.#counts(name)) this.note(name, `request.${name}`, callee)
  }

  #counts(name: string): boolean {
    return this.#own.includes(name)
  }

  /** True if a read of this cookie alone counts. */
  countsCookie(name: string): boolean {
    return !this.#keyedCookies.includes(name)
  }

  /** True if the handler may see this field and its key holds all of it. */
  isKeyed(name: string, value: string | undefined): boolean {
    if (name === 'cookie') return hasOnlyKeyedCookies(value, this.#keyedCookies)
    if (name !== 'x-forwarded-proto' && name !== 'x-forwarded-host') return false
    const { protocol, host } = new URL(this.#url)
    return name === 'x-forwarded-proto' ? `${value}:` === protocol : value === host
  }
}

/** Where the key holds the credentials of a request: the names that tell whose they are. */
function ownedNames({ ownsCredentials }: PersonalReadRule, { headers }: Request): readonly string[] {
  if (!ownsCredentials) return []
  return headers.has('authorization') ? ['authorization', 'user', 'auth'] : ['authorization']
}

/** Counts what the place of this request allows or has in its key as read, for the places outside of it. */
export function countAllowedReads(request: Request, rule: PersonalReadRule): void {
  watched.get(request)?.count(rule, request, countAllowedReads)
}
