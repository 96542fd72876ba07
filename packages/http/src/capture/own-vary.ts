import type { HeaderFields } from '../fields/header-fields.ts'

/** The names in `Vary` that a handler gives itself, though a layer outside may have set them before: by these, it chooses its response. */
export class OwnVary {
  readonly #names = new Set<string>()

  /** Notes a value that the handler sets. Where it continues the present one, as the package vary does, only the names after that are the handler's. */
  note(present: unknown, value: unknown): void {
    const before = namesIn(present)
    const names = namesIn(value)
    const continues = names.length > before.length && before.every((name, index) => names[index] === name)
    for (const name of names.slice(continues ? before.length : 0)) this.#names.add(name)
  }

  /** The fields from before the handler, without the names that the handler gave. */
  withoutOwn(before: HeaderFields): HeaderFields {
    if (this.#names.size === 0 || before['vary'] === undefined) return before
    const { vary, ...others } = before
    const names = namesIn(vary)
    const left = names.filter((name) => !this.#names.has(name))
    if (left.length === names.length) return before
    return left.length === 0 ? others : { ...others, vary: left.join(', ') }
  }
}

/** Lower-case, in their order, with repetitions. */
function namesIn(value: unknown): readonly string[] {
  const lines: readonly unknown[] = Array.isArray(value) ? value : [value]
  return lines
    .flatMap((line) => (typeof line === 'string' ? line.split(',') : []))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '')
}
