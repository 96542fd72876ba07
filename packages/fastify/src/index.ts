export { isRefresh } from '@cattlegrid/http'
export { RouteBeforePluginError } from './errors.ts'
export type { CattlegridOptions } from './options.ts'
export { cattlegrid, cattlegrid as default, type FastifyRouteOptions } from './plugin.ts'
