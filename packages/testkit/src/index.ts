export {
  type AdapterFactory,
  type AdapterServer,
  type ContractAnswer,
  type ContractMiddlewareResult,
  type ContractHeaders,
  type ContractRequest,
  type ContractRoute,
  type ContractRunner,
  type ContractStore,
  describeAdapterContract,
  sendStream,
} from './adapter-contract.ts'
export { eventsDuring, type ProcessWarning, warningsDuring } from './adapter-contract/warnings.ts'
export { createManualRuntime, type ManualRuntime, type ManualRuntimeOptions } from './manual-runtime.ts'
export { type RedisServer, startRedis, type StartRedisOptions } from './redis-server.ts'
export { describeStoreContract, type StoreFactory, type StoreUnderTest } from './store-contract.ts'
