import { OF_OUTER_LAYERS } from '../../response/recorded-fields.ts'

/**
 * The names in `Vary` that a handler gives itself, though a layer outside may have set them before: by these,
 * it chooses its response. The names that layers outside set for themselves, such as `Origin`, are hidden
 * from a read inside: what is set then is the handler's own list, whichever of them it repeats.
 */
export class VaryWriters {
  readonly #own = new Set<string>()
  /** The value that was read last without its hidden names. */
  #hiddenFrom: string | undefined
  #wasRead = false
  readonly #before: ReadonlySet<string>
  readonly #outer: ReadonlySet<string>

  /** `before`: the lines that were set when the handler began. */
  constructor(before: readonly string[]) {
    this.#before = new Set(namesIn(before))
    this.#outer = new Set([...this.#before].filter((name) => OF_OUTER_LAYERS.has(name)))
  }

  /** What code that is certainly inside gets when it reads the present value. */
  read(present: unknown): unknown {
    this.#wasRead = true
    if (this.#outer.size === 0) return present
    const names = listOf(present)
    const shown = names.filter((name) => !this.#isHidden(name))
    if (shown.length === names.length) return present
    this.#hiddenFrom = names.join(', ')
    // Not undefined: `hasHeader` says that the field is there.
    return shown.join(', ')
  }

  /**
   * Notes a value that is set inside; returns it with the names that the code has not seen. Where it
   * continues the present value unseen, only what is new is its own.
   */
  set(value: unknown, present: unknown): unknown {
    const names = namesIn(value)
    const whole = this.#hiddenFrom
    this.#hiddenFrom = undefined
    const before = whole === undefined ? namesIn(present) : []
    const continues = names.length > before.length && before.every((name, index) => names[index] === name)
    this.#noteOwn(names.slice(continues ? before.length : 0))
    if (whole === undefined || names.includes('*')) return value
    const known = namesIn(whole)
    return [whole, ...listOf(value).filter((name) => !known.includes(name.toLowerCase()))].join(', ')
  }

  /** Notes a value that comes with `writeHead`. */
  pass(value: unknown): void {
    this.#hiddenFrom = undefined
    this.#noteOwn(namesIn(value))
  }

  /** The inside has read all fields, and with them the whole present value. */
  readAll(): void {
    this.#wasRead = true
  }

  append(value: unknown): void {
    for (const name of namesIn(value)) this.#own.add(name)
  }

  restart(): void {
    this.#own.clear()
    this.#wasRead = false
    this.#hiddenFrom = undefined
  }

  /**
   * The value from before the handler, without the names that the handler gave; undefined: nothing is left.
   */
  namesBefore(before: readonly string[]): string | string[] | undefined {
    const names = namesIn(before)
    const left = names.filter((name) => !this.#own.has(name))
    if (left.length === names.length) return before.length > 1 ? [...before] : before[0]
    return left.length === 0 ? undefined : left.join(', ')
  }

  /**
   * Whoever has read the value repeats what layers outside have set, except for the names that were hidden
   * from him.
   */
  #noteOwn(names: readonly string[]): void {
    for (const name of names) {
      const repeats = this.#wasRead && this.#before.has(name) && !OF_OUTER_LAYERS.has(name)
      if (!repeats) this.#own.add(name)
    }
  }

  #isHidden(name: string): boolean {
    const lower = name.toLowerCase()
    return this.#outer.has(lower) && !this.#own.has(lower)
  }
}

/** As they are written, in their order. */
function listOf(value: unknown): readonly string[] {
  const lines: readonly unknown[] = Array.isArray(value) ? value : [value]
  return lines
    .flatMap((line) => (typeof line === 'string' ? line.split(',') : []))
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** Lower-case, in their order, with repetitions. */
function namesIn(value: unknown): readonly string[] {
  return listOf(value).map((name) => name.toLowerCase())
}
