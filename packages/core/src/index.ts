export type { ManyLoad, ManyLoader } from './batch/many-loader.ts'
export type { Claim, ClaimedAlone, ClaimedLead, ClaimedValue } from './claimed.ts'
export type { Cache, ReadResult } from './cache/cache.ts'
export type { Inspected } from './cache/inspected.ts'
export { type Codec, json, type OpenCodec, raw, structured } from './codec/codec.ts'
export { createCache } from './cache/create-cache.ts'
export { type ByteSize, type Duration, duration } from './option-rules/duration.ts'
export { formatDuration } from './option-rules/format-duration.ts'
export {
  type Entry,
  expiredVersion,
  LONGEST_TTL,
  LONGEST_WINDOW,
  MAX_ENTRY_BYTES,
  type NewEntry,
  NO_VERSION,
  type Version,
  type Windows,
  type Unreadable,
} from './entry.ts'
export {
  CattlegridError,
  ClosedError,
  type ErrorCode,
  type ErrorsByCode,
  type Failure,
  failureOf,
  InvalidKeyError,
  InvalidOptionError,
  isCattlegridError,
  LeaseLostError,
  LoadFailedError,
  LoadTimeoutError,
  LossyCodecError,
  ReentrantLoadError,
  StoreAwayError,
  TooManyWaitersError,
  WaitTimeoutError,
} from './errors.ts'
export type { CacheEvent, CacheEvents, EventName, Listener } from './events/cache-events.ts'
export type { InspectedLease, LeaseHolder } from './events/lease-holder.ts'
export type { Abandoned, CallerSignal, KeepOptions, Load, Loader, Outcome, UncacheableOptions } from './load.ts'
export type { Lookup } from './lookup/result.ts'
export type {
  CacheOptions,
  CallOptions,
  ClaimOptions,
  CloseOptions,
  EarlyRefreshOptions,
  FailureCooldownOptions,
  GetOptions,
  InspectOptions,
  InvalidateOptions,
  LeaseOptions,
  LoadOptions,
  NearOptions,
  OutageOptions,
  ReadOptions,
  ReadyOptions,
  RefreshBudgetOptions,
  SetOptions,
  TagOptions,
  ViewOptions,
  WrapOptions,
} from './options/options.ts'
export { isDigest, storedKey } from './options/stored-key.ts'
export type { RefreshRequest } from './store/refresh-quota.ts'
export { type CancelTimer, type Runtime, systemRuntime } from './runtime/runtime.ts'
export type { CacheStats, HitCounts } from './activity.ts'
export { failureCountLifetime } from './store/memory/key-state.ts'
export { memoryStore } from './store/memory/memory-store.ts'
export type { MemoryStoreOptions } from './store/memory/options.ts'
export {
  type Acquire,
  type Away,
  awayBecause,
  type Cleared,
  type Commit,
  type Done,
  type Inspection,
  type Lease,
  type Put,
  type Read,
  type RefreshPermitted,
  type Refused,
  type Released,
  type Renewed,
  type TagNumber,
  type TagNumbersRead,
  type TagsInvalidated,
  type Unkeepable,
} from './store/answers.ts'
export type { Answers, ProcessQuestions } from './store/process-questions.ts'
export type { AcquireRequest, Ending, Notice, ReadTerms, Store, StorePart } from './store/store.ts'
export { judgeTags } from './store/tag-expiry.ts'
