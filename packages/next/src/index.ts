export {
  nextCacheHandler,
  type NextCacheEntry,
  type NextCacheHandler,
  type NextCacheHandlerOptions,
} from './cache-handler.ts'
export type { HandedCache } from './handed-cache.ts'
export {
  type NextCacheControl,
  nextIsrHandler,
  type NextIsrEntry,
  type NextIsrGetContext,
  type NextIsrHandler,
  type NextIsrHandlerContext,
  type NextIsrSetContext,
  type NextIsrValue,
} from './isr-handler.ts'
