export {
  type AdapterFactory,
  type AdapterServer,
  type ContractAnswer,
  type ContractDoor,
  type ContractHeaders,
  type ContractRequest,
  type ContractRoute,
  type ContractRunner,
  type ContractStore,
  describeAdapterContract,
} from './adapter-contract.ts'
export {
  type CountingOrigin,
  type CountingOriginOptions,
  type OriginAnswer,
  startCountingOrigin,
} from './counting-origin.ts'
export {
  type Fault,
  type FaultDirection,
  type FaultProxy,
  type FaultProxyOptions,
  type ProxyTraffic,
  startFaultProxy,
} from './fault-proxy.ts'
export { type FaultyStore, faultyStore, type StoreFault, type StoreFaultScope, type StoreVerb } from './faulty-store.ts'
export { createManualRuntime, type ManualRuntime, type ManualRuntimeOptions } from './manual-runtime.ts'
export { findRedis, type RedisBinary } from './redis-binary.ts'
export { type RedisClusterServers, startRedisCluster, type StartRedisClusterOptions } from './redis-cluster.ts'
export { type RedisSentinelServers, startRedisSentinel, type StartRedisSentinelOptions } from './redis-sentinel.ts'
export { type RedisServer, startRedis, type StartRedisOptions } from './redis-server.ts'
export { describeStoreContract, type StoreFactory, type StoreUnderTest } from './store-contract.ts'
