export type { ManyLoad, ManyLoader } from './batch/many-loader.ts'
export type { Claim, ClaimedAlone, ClaimedLead, ClaimedValue } from './claimed.ts'
export type { Cache, ReadResult } from './cache/cache.ts'
export type { Inspected } from './cache/inspected.ts'
export { type Codec, json, type OpenCodec, raw, structured } from './codec/codec.ts'
export { createCache } from './cache/create-cache.ts'
export { type ByteSize, type Duration, duration } from './option-rules/duration.ts'
export {
  CattlegridError,
  ClosedError,
  type ErrorCode,
  type ErrorsByCode,
  type Failure,
  InvalidKeyError,
  InvalidOptionError,
  isCattlegridError,
  LeaseLostError,
  LoadFailedError,
  LoadTimeoutError,
  LossyCodecError,
  OverloadedError,
  ReentrantLoadError,
  StoreAwayError,
  TooManyWaitersError,
  WaitTimeoutError,
} from './errors.ts'
export type { CacheEvent, CacheEvents, EventName, Listener } from './events/cache-events.ts'
export type { InspectedLease, LeaseHolder } from './events/lease-holder.ts'
export type { AbandonReason, CallerSignal, KeepOptions, Load, Loader, Outcome, UncacheableOptions } from './load.ts'
export type { Lookup } from './lookup/result.ts'
export type {
  CallOptions,
  ClaimOptions,
  CloseOptions,
  GetOptions,
  InspectOptions,
  ExpireTagsOptions,
  InvalidateOptions,
  ReadOptions,
  ReadyOptions,
  SetOptions,
  ViewOptions,
  WrapOptions,
} from './options/call-options.ts'
export type {
  CacheOptions,
  EarlyRefreshOptions,
  FailureCooldownOptions,
  LeaseOptions,
  LoadOptions,
  NearOptions,
  OutageOptions,
  RefreshBudgetOptions,
  TagOptions,
} from './options/options.ts'
export type { CacheStats, HitCounts } from './activity.ts'
export { memoryStore } from './store/memory/memory-store.ts'
export type { MemoryStoreOptions } from './store/memory/options.ts'
export type { Store } from './store/store.ts'
