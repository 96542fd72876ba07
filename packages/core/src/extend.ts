// For those who write a store, an adapter or an extension. An application needs the main entry alone.

// A store: the interface, its answers, and what they are made of.
export type { AcquireRequest, Ending, Notice, ReadTerms, Store, StorePart } from './store/store.ts'
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
export type { Board, Post } from './store/board.ts'
export type { Answers, ProcessQuestions } from './store/process-questions.ts'
export type { RefreshRequest } from './store/refresh-quota.ts'
export { judgeTags } from './store/tag-expiry.ts'
export {
  type Entry,
  expiredVersion,
  LONGEST_TTL,
  LONGEST_WINDOW,
  makeEntry,
  type NewEntry,
  NO_VERSION,
  type Unreadable,
  type Version,
  type Windows,
} from './entry.ts'
export { type CancelTimer, type Runtime, systemRuntime } from './runtime/runtime.ts'

// Options: checked as those of the cache are, with the same errors.
export { checkOptions, checkValue } from './option-rules/check-options.ts'
export type { OptionRule, OptionRules } from './option-rules/option-rule.ts'
export * as rule from './option-rules/rule.ts'

// Adapters and extensions.
export { onAbort } from './claim/loader-argument.ts'
export { failureOf } from './errors.ts'
export { BoundedMap } from './maps/bounded-map.ts'
export { formatDuration } from './option-rules/format-duration.ts'
export { isDigest, storedKey } from './options/stored-key.ts'
export * as handlerScopes from './runtime/handler-scopes.ts'
export { processWide } from './runtime/process-wide.ts'
