import { type Type, VERSION_NEUTRAL, VersioningType, type VersioningOptions } from '@nestjs/common'
import { MetadataScanner, Reflector } from '@nestjs/core'

/**
 * The keys of the metadata of Nest's decorators. Nest exports them from no stable path; a test compares them
 * with Nest's own.
 */
export const NEST_KEYS = {
  path: 'path',
  method: 'method',
  host: 'host',
  version: '__version__',
  guards: '__guards__',
  interceptors: '__interceptors__',
  sse: '__sse__',
} as const

const reflector = new Reflector()
const scanner = new MetadataScanner()

/** A method of a class in the container, and what decorators say of both. */
export class HandlerMetadata {
  readonly owner: Type
  readonly name: string
  readonly handler: Function

  constructor(owner: Type, name: string) {
    this.owner = owner
    this.name = name
    this.handler = Reflect.get(owner.prototype as object, name) as Function
  }

  /** All methods of a class, inherited ones included. */
  static ofClass(owner: Type): readonly HandlerMetadata[] {
    return scanner.getAllMethodNames(owner.prototype as object).map((name) => new HandlerMetadata(owner, name))
  }

  get title(): string {
    return `${this.owner.name}.${this.name}`
  }

  ofHandler<T>(key: string): T | undefined {
    return reflector.get<T | undefined>(key, this.handler)
  }

  ofOwner<T>(key: string): T | undefined {
    return reflector.get<T | undefined>(key, this.owner)
  }

  /** True if a guard of the handler or of its controller may reject a request. */
  get isGuarded(): boolean {
    return [...this.#listed(NEST_KEYS.guards)].length > 0
  }

  /** The classes and the objects that `@UseInterceptors()` names for the handler and for its controller. */
  get interceptors(): readonly unknown[] {
    return this.#listed(NEST_KEYS.interceptors)
  }

  /** Tells handlers of one URL apart. It is the same in every process. */
  get place(): string {
    const { path, host, version } = NEST_KEYS
    const facts = [this.ofOwner(path), this.ofHandler(path), this.ofOwner(host), this.#version(version)]
    return JSON.stringify([this.title, ...facts], (_, value: unknown) =>
      typeof value === 'symbol' || value instanceof RegExp ? String(value) : value,
    )
  }

  /** How a request finds this handler among those of other versions. */
  versionSource(versioning: VersioningOptions | undefined): VersionSource {
    const version = this.#version(NEST_KEYS.version) ?? versioning?.defaultVersion
    if (versioning === undefined || version === undefined || version === VERSION_NEUTRAL) return { kind: 'url' }
    if (versioning.type === VersioningType.HEADER) return { kind: 'field', name: versioning.header.toLowerCase() }
    if (versioning.type === VersioningType.MEDIA_TYPE) return { kind: 'field', name: 'accept' }
    return { kind: versioning.type === VersioningType.CUSTOM ? 'unknown' : 'url' }
  }

  #version(key: string): unknown {
    return this.ofHandler(key) ?? this.ofOwner(key)
  }

  #listed(key: string): readonly unknown[] {
    return [...(this.ofOwner<readonly unknown[]>(key) ?? []), ...(this.ofHandler<readonly unknown[]>(key) ?? [])]
  }
}

/**
 * `url`: the URL tells the version, or it does not count. `field`: this request field tells it. `unknown`: a
 * function of the application does.
 */
export type VersionSource = { readonly kind: 'url' | 'unknown' } | { readonly kind: 'field'; readonly name: string }
