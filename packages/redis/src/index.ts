export type { RedisStoreOptions } from './options.ts'
export type { RedisClient, SendOptions } from './redis-client.ts'
export { redisStore } from './redis-store.ts'
