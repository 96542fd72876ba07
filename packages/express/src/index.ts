export { type Cached, type CachedRequest, type CacheMiddleware, expressCache } from './middleware.ts'
export { isRefresh, type ResponseDirectives, type RouteOptions, ServeError } from '@cattlegrid/http'
