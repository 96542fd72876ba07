import * as fc from 'fast-check'

// The grammar of the property test of fields: layers outside the cache, which give each client values of its own, and a handler; both touch the same few fields in
// every way that frameworks offer. Plain data, so that a failing stack can be printed.

export const FIELDS = ['link', 'x-tag', 'content-security-policy', 'vary', 'cache-control'] as const
type Field = (typeof FIELDS)[number]

/** What a layer outside does with a field. `after`: when it has called `next`; `late`: when the head is written; `wrapped`: in a `setHeader` of its own. */
export const OUTSIDE = ['set', 'append', 'list', 'late', 'after', 'wrapped'] as const
/** What the handler does with a field. `same`: it sets the value that a layer outside gives everybody. */
export const INSIDE = [
  ...(['set', 'same', 'append', 'append a line', 'list', 'remove', 'passed', 'set headers'] as const),
  ...(['continue', 'continue a list', 'prepend', 'embed', 'copy', 'of the framework'] as const),
] as const

export interface Outside {
  readonly field: Field
  readonly does: (typeof OUTSIDE)[number]
  /** Whose value differs: everybody's own, one for all, or only one client has it. */
  readonly whose: 'own' | 'common' | 'ann' | 'bob'
}

export interface Inside {
  readonly field: Field
  readonly does: (typeof INSIDE)[number]
}

const field = fc.constantFrom<Field>('link', 'link', 'x-tag', 'content-security-policy', 'vary', 'cache-control')

export const fieldStacks = fc.record({
  framework: fc.constantFrom('Express 5', 'Express 4', 'Fastify 5'),
  outside: fc.array(
    fc.record({
      field,
      does: fc.constantFrom(...OUTSIDE),
      whose: fc.constantFrom('own', 'own', 'common', 'ann', 'bob'),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  inside: fc.array(fc.record({ field, does: fc.constantFrom(...INSIDE) }), { minLength: 1, maxLength: 3 }),
  /** Whether the handler answers in another turn of the event loop. */
  later: fc.boolean(),
})

type ValueOf<A> = A extends fc.Arbitrary<infer Value> ? Value : never
export type FieldStack = ValueOf<typeof fieldStacks>

/** The value that a layer outside gives this client; undefined: none. */
export function outerValue({ field: name, whose }: Outside, user: string): string | undefined {
  if ((whose === 'ann' || whose === 'bob') && whose !== user) return undefined
  if (name === 'vary') return whose === 'common' ? 'Origin' : 'Accept-Encoding'
  if (name === 'cache-control') return 'public'
  const of = whose === 'common' ? 'all-visitors-of-it' : `secret-of-${user}`
  if (name === 'link') return `</${of}.css>; rel="preload"`
  return name === 'x-tag' ? of : `script-src 'nonce-${of}'`
}

function innerValue(name: Field): string {
  if (name === 'vary') return 'Accept-Language'
  if (name === 'cache-control') return 'max-age=60'
  if (name === 'link') return '</page.css>; rel="preload"'
  return name === 'x-tag' ? 'page' : "img-src 'self'"
}

/** The head of a response, by the methods that every framework has in some form. */
export interface Head {
  get(name: string): string | string[] | undefined
  set(name: string, value: string | string[]): void
  remove(name: string): void
  /** As the framework appends. */
  append(name: string, value: string): void
  /** Adds a line, as Node's `appendHeader`. */
  addLine(name: string, value: string): void
  setAll(fields: ReadonlyMap<string, string>): void
  /** What only this framework has: `res.links`, `res.vary`, `reply.headers`. */
  own(name: string, value: string): void
}

export function actOutside({ does }: Outside, head: Head, name: string, value: string): void {
  if (does === 'append') head.append(name, value)
  else head.set(name, does === 'list' ? [value, value] : value)
}

/** Returns the fields that are passed to `writeHead`. */
export function actInside({ field: name, does }: Inside, head: Head): Readonly<Record<string, string>> {
  const value = innerValue(name)
  const acts: Readonly<Record<Inside['does'], () => void>> = {
    set: () => head.set(name, value),
    same: () => head.set(name, outerValue({ field: name, does: 'set', whose: 'common' }, 'ann') ?? ''),
    append: () => head.append(name, value),
    'append a line': () => head.addLine(name, value),
    list: () => head.set(name, [value, `${value}2`]),
    remove: () => head.remove(name),
    passed: () => undefined,
    'set headers': () => head.setAll(new Map([[name, value]])),
    continue: () => head.set(name, [head.get(name) ?? [], value].flat().join(', ')),
    'continue a list': () => head.set(name, [head.get(name) ?? [], value].flat()),
    prepend: () => head.set(name, [value, head.get(name) ?? []].flat()),
    embed: () => head.set(name, [head.get(name) ?? 'x', value].flat().join(name === 'vary' ? ', ' : '; ')),
    copy: () => head.set(name, head.get(name) ?? value),
    'of the framework': () => head.own(name, value),
  }
  acts[does]()
  return does === 'passed' ? { [name]: value } : {}
}
