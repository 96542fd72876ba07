import { Inject } from '@nestjs/common'

/**
 * The token of the cache: `app.get<Cache>(CATTLEGRID_CACHE)`. A text, so that the ES module and the CommonJS
 * module have the same one. Nest names it in the error of an app that does not import the module, so it says
 * what to import.
 */
export const CATTLEGRID_CACHE = 'CATTLEGRID_CACHE of CattlegridModule.forRoot()'

/**
 * Injects the cache of `CattlegridModule`, for values that are no responses, and for invalidation.
 *
 * @example
 * class Products {
 *   constructor(@InjectCache() private readonly cache: Cache) {}
 * }
 */
export function InjectCache(): PropertyDecorator & ParameterDecorator {
  return Inject(CATTLEGRID_CACHE)
}
