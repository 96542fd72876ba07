export { type Cached, type CachedRequest, type CacheMiddleware, expressCache } from './middleware.ts'
export { isRefresh, type ResponseWord, type RouteOptions, ServeError } from '@cattlegrid/http'
