export { createManualRuntime, type ManualRuntime, type ManualRuntimeOptions } from './manual-runtime.ts'
export { findRedis, type RedisBinary } from './redis-binary.ts'
export { type RedisServer, startRedis, type StartRedisOptions } from './redis-server.ts'
export { describeStoreContract, type StoreFactory, type StoreUnderTest } from './store-contract.ts'
