import { nextIsrHandler } from '@cattlegrid/next'
import { sharedCache } from './cache.mjs'

export default nextIsrHandler(sharedCache)
