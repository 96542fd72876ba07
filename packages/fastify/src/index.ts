export { RouteBeforePluginError } from './errors.ts'
export type { CattlegridOptions, FastifyRouteOptions } from './options.ts'
export { cattlegrid, cattlegrid as default } from './plugin.ts'
