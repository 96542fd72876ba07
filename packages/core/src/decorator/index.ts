export { cachedMethod, type CachedMethodOptions } from './cached-method.ts'
