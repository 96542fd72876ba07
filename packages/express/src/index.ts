export { type Cached, type CachedRequest, type CacheMiddleware, expressCache } from './middleware.ts'
export { isRefresh, type PurgeOptions, type ResponseDirectives, type RouteOptions, ServeError } from '@cattlegrid/http'
