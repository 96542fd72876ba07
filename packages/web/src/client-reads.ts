import {
  CapturedStack,
  type ClientReads,
  hasOnlyKeyedCookies,
  PERSONAL_FIELDS,
  PERSONAL_PROPERTIES,
  type PersonalRead,
  type PersonalReadRule,
} from '@cattlegrid/http/binding'

/** The reads by which a handler learns who its client is: of fields, and of what layers have set. */
export class FetchReads implements ClientReads {
  /** The fields that the handler's request does not hold: they are shown only where a read is noticed. */
  readonly fields: readonly string[]
  readonly properties: readonly string[]
  readonly #keyedCookies: readonly string[]
  readonly #made: (Omit<PersonalRead, 'position'> & { readonly stack: CapturedStack })[] = []
  #selecting: readonly string[] = []
  #outside = 0
  #stopped = false
  readonly #onStop: (() => void)[] = []

  /** `hasCredentials`: the request has those that the key may hold; `user` and `auth` tell whose. */
  constructor(rule: PersonalReadRule, hasCredentials: boolean) {
    const { allowed, keyedFields, keyedCookies, ownsCredentials, watchesFields } = rule
    const owned = ownsCredentials ? ['authorization', ...(hasCredentials ? ['user', 'auth'] : [])] : []
    const counts = (name: string): boolean => ![...allowed, ...keyedFields, ...owned].includes(name)
    this.fields = watchesFields ? PERSONAL_FIELDS.filter(counts) : []
    this.properties = PERSONAL_PROPERTIES.filter(counts)
    this.#keyedCookies = keyedCookies
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

  /** `callee`: the function that the handler called. */
  note(name: string, expression: string, callee: Function): void {
    if (this.#stopped || this.#outside > 0 || this.#made.some((one) => one.name === name)) return
    this.#made.push({ name, expression, stack: new CapturedStack(callee) })
  }

  /** True if the handler may see this field and its key holds all of it. */
  isKeyed(name: string, value: string): boolean {
    return name === 'cookie' && hasOnlyKeyedCookies(value, this.#keyedCookies)
  }
}
