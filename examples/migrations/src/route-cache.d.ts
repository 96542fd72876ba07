/** What is used of a package that has no types of its own. */
declare module 'route-cache' {
  import type { RequestHandler } from 'express'

  const routeCache: {
    cacheSeconds(seconds: number): RequestHandler<{ id: string }>
    removeCache(url: string): void
  }
  export default routeCache
}
