import { type CallHandler, Inject, Injectable, type NestInterceptor } from '@nestjs/common'
import type { Observable } from 'rxjs'
import { CATTLEGRID_CACHE } from './inject-cache.ts'

const BRAND = Symbol.for('cattlegrid.cacheInterceptor')

/**
 * Marks handlers whose responses are cached, as `@Cached()` does: `@UseInterceptors(CacheInterceptor)` on a
 * controller or a handler. As a global interceptor it marks all `GET` handlers, and those without a `ttl` of
 * their own store only responses that declare a lifetime.
 *
 * It does nothing itself: `ResponseCache` serves before every interceptor, wherever this one stands. Its
 * dependency makes the app fail at the start where no `CattlegridModule` is imported.
 *
 * @example
 * import { CacheInterceptor } from '@cattlegrid/nestjs'
 * import { Controller, Get, UseInterceptors } from '@nestjs/common'
 *
 * @Controller('news')
 * @UseInterceptors(CacheInterceptor)
 * export class NewsController {
 *   @Get()
 *   list() {
 *     return []
 *   }
 * }
 */
export class CacheInterceptor implements NestInterceptor {
  intercept(_context: unknown, next: CallHandler): Observable<unknown> {
    return next.handle()
  }
}
Object.defineProperty(CacheInterceptor.prototype, BRAND, { value: true })
Injectable()(CacheInterceptor)
Inject(CATTLEGRID_CACHE)(CacheInterceptor, undefined, 0)

/**
 * True for the class and its objects, of whichever copy of this package: `@Cached()` and the module may come
 * from two.
 */
export function isCacheInterceptor(interceptor: unknown): boolean {
  const object: unknown = typeof interceptor === 'function' ? interceptor.prototype : interceptor
  return object instanceof Object && BRAND in object
}
