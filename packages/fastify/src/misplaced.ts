import type { RouteOptions } from 'fastify'

/**
 * Warns of a route whose options of the cache stand where Fastify overlooks them. Another plugin may mean the
 * names, so the route is declared.
 */
export function warnOfMisplaced(declared: RouteOptions): void {
  const { config = {}, method, url } = declared
  if (config.cache !== undefined || methodsOf(method).join() === 'HEAD') return
  const { cache, ttl } = declared as { readonly cache?: unknown; readonly ttl?: unknown }
  const isCache = typeof cache === 'object' && cache !== null && 'ttl' in cache
  const found = isCache ? 'cache' : ttl !== undefined ? 'ttl' : 'ttl' in config ? 'config.ttl' : undefined
  if (found === undefined) return
  process.emitWarning(
    `The route ${methodsOf(method).join()} ${url} has the option ${found}, which Fastify overlooks, so it is not cached. ` +
      'Write config: { cache: { ttl } }, or config: { cache: false } if another plugin reads it.',
    { type: 'CattlegridWarning', code: 'CATTLEGRID_MISPLACED_OPTION' },
  )
}

/** Warns of a `ttl` on a route of writes alone, whose responses are never stored. */
export function warnOfMethod({ method, url }: RouteOptions): void {
  const methods = methodsOf(method)
  if (methods.some((name) => name === 'GET' || name === 'HEAD')) return
  process.emitWarning(
    `config.cache has a ttl on ${methods.join()} ${url}, whose responses are never cached: only those to GET are. ` +
      'A write invalidates what it changes: call app.cattlegrid.cache.invalidateTags() in its handler, or give the route { invalidateOnUnsafe: true }.',
    { type: 'CattlegridWarning', code: 'CATTLEGRID_UNCACHED_METHOD' },
  )
}

function methodsOf(method: RouteOptions['method']): readonly string[] {
  return [method].flat()
}
