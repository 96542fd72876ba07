export { createManualRuntime, type ManualRuntime, type ManualRuntimeOptions } from './manual-runtime.ts'
export { findRedis, type RedisBinary } from './redis-binary.ts'
export { type RedisServer, startRedis, type StartRedisOptions } from './redis-server.ts'
