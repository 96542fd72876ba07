import type { Cache } from '../cache.ts'
import { InvalidOptionError } from '../errors.ts'
import type { CallOptions } from '../options.ts'

type Method = (...args: never[]) => unknown

/** Options of `@cachedMethod`. */
export interface CachedMethodOptions<A extends readonly unknown[], V = unknown> extends CallOptions<V> {
  /** The cache, or how to find it on the instance, for classes that are given theirs by a container. */
  readonly cache: Cache | ((self: never) => Cache)
  /** The cache key of a call, from its arguments. Two methods that share a cache need keys that differ. */
  readonly key: (...args: A) => string
}

/** What a decorator is applied to: a TC39 method context, or the property descriptor of the older proposal. */
interface MethodDecorator<A extends readonly unknown[]> {
  <This, R>(
    method: (this: This, ...args: [...A]) => Promise<R>,
    context: ClassMethodDecoratorContext<This, (this: This, ...args: [...A]) => Promise<R>>,
  ): (this: This, ...args: [...A]) => Promise<R>
  <R>(target: object, name: string | symbol, descriptor: TypedPropertyDescriptor<(...args: [...A]) => Promise<R>>): void
}

/**
 * Answers a method from the cache. Works as a TC39 decorator and, called by tools that still compile the older proposal, as one of those.
 *
 * @throws InvalidOptionError when the class is defined, for an option that is unknown or has a value it cannot have.
 */
export function cachedMethod<A extends readonly unknown[], V = unknown>(
  options: CachedMethodOptions<A, V>,
): MethodDecorator<A> {
  const { cache, ...callOptions } = options
  if (typeof cache !== 'function' && typeof cache?.wrap !== 'function') {
    throw new InvalidOptionError('cachedMethod.cache', cache, 'a cache, or a function (self) => cache')
  }
  if (typeof options.key !== 'function') {
    throw new InvalidOptionError('cachedMethod.key', options.key, 'a function (...args) => string')
  }
  const cacheOf = (self: unknown): Cache => (typeof cache === 'function' ? cache(self as never) : cache)
  return decorate((method) => cached(method, cacheOf, callOptions)) as MethodDecorator<A>
}

function decorate(replace: (method: Method) => Method): unknown {
  return (
    ...args: [Method, { kind: string; name: string | symbol }] | [object, string | symbol, PropertyDescriptor]
  ) => {
    if (args.length === 3) {
      args[2].value = replace(args[2].value as Method)
      return undefined
    }
    const [method, { kind, name }] = args
    if (kind !== 'method') throw new InvalidOptionError(`@cachedMethod on ${String(name)}`, kind, 'a method')
    return replace(method)
  }
}

/** Wraps the method once per cache, so that its options are checked once and not per call. */
function cached(method: Method, cacheOf: (self: unknown) => Cache, options: object): Method {
  const wrapped = new WeakMap<Cache, Method>()
  const replacement = function (this: unknown, ...args: never[]): unknown {
    const cache = cacheOf(this)
    let call = wrapped.get(cache)
    if (call === undefined) {
      call = cache.wrap(method, options as never)
      wrapped.set(cache, call)
    }
    return Reflect.apply(call, this, args)
  }
  return Object.defineProperties(replacement, {
    name: { value: method.name, configurable: true },
    length: { value: method.length, configurable: true },
  })
}
