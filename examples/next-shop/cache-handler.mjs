import { nextCacheHandler } from '@cattlegrid/next'
import { sharedCache } from './cache.mjs'

export default nextCacheHandler(sharedCache)
