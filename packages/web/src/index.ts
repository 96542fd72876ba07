export { type CachedHandler, cachedHandler, type CachedHandlerOptions } from './cached-handler.ts'
export type { WebRouteOptions } from './route-options.ts'
export { isRefresh } from './subrequests.ts'
export { directivesOf, type ResponseDirectives } from '@cattlegrid/http'
