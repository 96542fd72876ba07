export type { ManyLoad, ManyLoader } from './batch/batch.ts'
export type { Cache, Inspected, ReadResult } from './cache/cache.ts'
export { type Codec, json, type OpenCodec, raw, structured } from './codec.ts'
export { createCache } from './create-cache.ts'
export { type ByteSize, type Duration, duration } from './duration.ts'
export { type Entry, LONGEST_WINDOW, type NewEntry, NO_VERSION, type Version, type Windows } from './entry.ts'
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
  ReentrantLoadError,
  StoreAwayError,
  TooManyWaitersError,
  WaitTimeoutError,
} from './errors.ts'
export type { CacheEvents, EventName, Listener } from './events.ts'
export type { Abandoned, CallerSignal, KeepOptions, Load, Loader, Outcome, UncacheableOptions } from './load.ts'
export type { Lookup } from './lookup/lookup.ts'
export {
  booleanRule,
  byteSizeRule,
  checkOptions,
  countRule,
  durationRule,
  fractionRule,
  functionRule,
  INVALID,
  nestedRule,
  objectRule,
  oneOfRule,
  type OptionRule,
  type OptionRules,
  orFalse,
  type Parsed,
  runtimeRule,
  textRule,
} from './option-rules.ts'
export type {
  CacheOptions,
  CallOptions,
  CloseOptions,
  EarlyRefreshOptions,
  FailureCooldownOptions,
  GetOptions,
  InvalidateOptions,
  LeaseOptions,
  LoadOptions,
  NearOptions,
  OutageOptions,
  ReadOptions,
  SetOptions,
  TagOptions,
  WrapOptions,
} from './options/options.ts'
export { type CancelTimer, type Runtime, systemRuntime } from './runtime.ts'
export { memoryStore } from './store/memory/memory-store.ts'
export type { MemoryStoreOptions } from './store/memory/options.ts'
export type {
  Acquire,
  AcquireRequest,
  Away,
  Cleared,
  Commit,
  Done,
  Ending,
  Inspection,
  Lease,
  Notice,
  Put,
  Read,
  Refused,
  Released,
  Renewed,
  Store,
  TagNumbersRead,
  TagsFallen,
  Unkeepable,
  Unreadable,
} from './store/store.ts'
