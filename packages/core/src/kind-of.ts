import { types } from 'node:util'

/**
 * What an application holds beside plain values, recognised in any copy of a package by methods that only
 * it has.
 */
const KINDS: readonly (readonly [kind: string, methods: readonly string[]])[] = [
  ['a promise', ['then']],
  ['a cache, as createCache() makes it', ['getOrSet', 'lookup', 'invalidateTags']],
  ['a store, as memoryStore() or redisStore() makes it', ['acquire', 'commit', 'tagNumbers']],
  ['a client of Redis', ['sendCommand', 'on']],
  ['a client of Redis', ['callBuffer', 'on']],
]

/**
 * The kind of a value that was given in the place of another, in words; undefined where the value itself
 * says more.
 */
export function kindOf(value: unknown): string | undefined {
  if (typeof value === 'function') return kindOfFunction(value)
  if (typeof value !== 'object' || value === null) return undefined
  try {
    const has = (name: string): boolean => typeof (value as Readonly<Record<string, unknown>>)[name] === 'function'
    return KINDS.find(([, methods]) => methods.every(has))?.[0]
  } catch {
    // A getter or a proxy that throws.
    return undefined
  }
}

/** A class has members that would fill the line. */
function kindOfFunction(value: Function): string | undefined {
  if (types.isAsyncFunction(value)) return 'an async function'
  return /^class\b/.test(Function.prototype.toString.call(value)) ? `the class ${value.name}` : undefined
}
