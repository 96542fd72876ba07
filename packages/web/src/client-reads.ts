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
  #read: (Omit<PersonalRead, 'position'> & { readonly stack: CapturedStack }) | undefined
  #selecting: readonly string[] = []
  #outside = 0
  #stopped = false

  constructor({ allowed, keyedFields, keyedCookies, ownsCredentials, watchesFields }: PersonalReadRule) {
    const owned = ownsCredentials ? ['authorization', 'user', 'auth'] : []
    const counts = (name: string): boolean => ![...allowed, ...keyedFields, ...owned].includes(name)
    this.fields = watchesFields ? PERSONAL_FIELDS.filter(counts) : []
    this.properties = PERSONAL_PROPERTIES.filter(counts)
    this.#keyedCookies = keyedCookies
  }

  get found(): PersonalRead | undefined {
    const read = this.#read
    if (read === undefined || this.#selecting.includes(read.name)) return undefined
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
  }

  /** `callee`: the function that the handler called. */
  note(name: string, expression: string, callee: Function): void {
    if (this.#stopped || this.#outside > 0 || this.found !== undefined) return
    this.#read = { name, expression, stack: new CapturedStack(callee) }
  }

  /** True if the handler may see this field and its key holds all of it. */
  isKeyed(name: string, value: string): boolean {
    return name === 'cookie' && hasOnlyKeyedCookies(value, this.#keyedCookies)
  }
}
