import type { Cache } from '../cache/cache.ts'
import { InvalidOptionError } from '../errors.ts'
import type { CallOptions } from '../options/call-options.ts'
import { wrapRows } from '../options/parse-call-options.ts'
import { checkOptions } from '../option-rules/check-options.ts'
import { objectRule } from '../option-rules/option-rules.ts'
import type { OptionRule } from '../option-rules/option-rule.ts'

type Method = (...args: never[]) => unknown

/** Options of `@cachedMethod`. */
export interface CachedMethodOptions<A extends readonly unknown[], V = unknown> extends CallOptions<V> {
  /**
   * The cache, or a function that finds it on the instance, for classes that receive theirs from a container.
   */
  readonly cache: Cache | ((self: never) => Cache)
  /** The cache key of a call, from its arguments. Two methods that share a cache need keys that differ. */
  readonly key: (...args: A) => string
}

/**
 * The two forms of a decorator: with a TC39 method context, and with the property descriptor of the
 * older proposal.
 */
interface MethodDecorator<A extends readonly unknown[]> {
  <This, R>(
    method: (this: This, ...args: [...A]) => Promise<R>,
    context: ClassMethodDecoratorContext<This, (this: This, ...args: [...A]) => Promise<R>>,
  ): (this: This, ...args: [...A]) => Promise<R>
  <R>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<(...args: [...A]) => Promise<R>>): void
}

/**
 * Caches the results of a method. Works as a TC39 decorator, and as one of the older proposal for tools that
 * still compile that.
 *
 * @example
 * import { createCache } from '@cattlegrid/core'
 * import { cachedMethod } from '@cattlegrid/core/decorator'
 *
 * const cache = createCache({ ttl: '30s' })
 *
 * class Products {
 *   @cachedMethod({ cache, key: (id: string) => `product:${id}` })
 *   async find(id: string) {
 *     return { id }
 *   }
 * }
 * @throws InvalidOptionError when the class is defined, for an option that is unknown or has an
 * invalid value.
 */
export function cachedMethod<A extends readonly unknown[], V = unknown>(
  options: CachedMethodOptions<A, V>,
): MethodDecorator<A> {
  checkMethodOptions(options)
  const { cache, ...callOptions } = options
  const cacheOf = (self: unknown): Cache => {
    const found: Cache | undefined = typeof cache === 'function' ? cache(self as never) : cache
    if (typeof found?.wrap === 'function') return found
    throw new InvalidOptionError('cachedMethod.cache', found, 'a function (self) => cache that returns a cache')
  }
  return decorate((method) => cached(method, cacheOf, callOptions)) as MethodDecorator<A>
}

const cacheRule: OptionRule<object> = {
  accepted: 'a cache, or a function (self) => cache',
  parse: (value) => (typeof value === 'function' ? value : objectRule<{ wrap(): unknown }>('', 'wrap').parse(value)),
}

/**
 * Checks the options when the class is defined, while a cache that `cache` finds on an instance does not
 * exist yet.
 */
function checkMethodOptions(options: object | undefined): void {
  const { key, cache } = checkOptions('cachedMethod', options, { ...wrapRows, cache: cacheRule })
  if (cache === undefined) throw new InvalidOptionError('cachedMethod.cache', cache, cacheRule.accepted)
  if (key === undefined) throw new InvalidOptionError('cachedMethod.key', key, wrapRows.key.accepted)
}

type Standard = [method: Method, context: { readonly kind: string; readonly name: string | symbol }]
type Legacy = [target: object, name: string | symbol, descriptor?: PropertyDescriptor]

/**
 * TC39 passes the method and takes the returned one; the older proposal passes a descriptor, which
 * is changed.
 */
function decorate(replace: (method: Method) => Method): unknown {
  return (...args: Standard | Legacy) => {
    const [first, second, descriptor] = args as [...Standard, PropertyDescriptor?] | Legacy
    const standard = typeof second === 'object'
    const method: unknown = standard ? first : descriptor?.value
    const kind = standard ? second.kind : typeof method === 'function' ? 'method' : 'field or accessor'
    if (kind !== 'method')
      throw new InvalidOptionError(`@cachedMethod on ${String(standard ? second.name : second)}`, kind, 'a method')
    if (standard) return replace(method as Method)
    if (descriptor !== undefined) descriptor.value = replace(method as Method)
    return undefined
  }
}

/** Wraps the method once for each cache, so that its options are checked once and not at each call. */
function cached(method: Method, cacheOf: (self: unknown) => Cache, options: object): Method {
  const wrapped = new WeakMap<Cache, Method>()
  const callOf = (self: unknown): Method => {
    const cache = cacheOf(self)
    const call = wrapped.get(cache) ?? cache.wrap(method, options as never)
    wrapped.set(cache, call)
    return call
  }
  // No async function: it would await the call, also where nobody awaits the method.
  const replacement = function (this: unknown, ...args: never[]): unknown {
    try {
      return Reflect.apply(callOf(this), this, args)
    } catch (error) {
      return Promise.reject(error)
    }
  }
  return Object.defineProperties(replacement, {
    name: { value: method.name, configurable: true },
    length: { value: method.length, configurable: true },
  })
}
