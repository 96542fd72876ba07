// For the packages of this repository alone, which are released together: no promise of semantic versioning.
export { closeScope, currentScope, enterScope, openScope } from './runtime/async-scopes.ts'
export { queueMicrotask } from './runtime/runtime.ts'
export { BoundedMap } from './maps/bounded-map.ts'
export { concealed, concealedText } from './concealed.ts'
export { debugEvent, isDebugged } from './events/debug-log.ts'
export { failureName } from './errors.ts'
export { makeEntry } from './entry.ts'
export { leaseId } from './events/lease-holder.ts'
export {
  answersAtOnce,
  booleanRule,
  byteSizeRule,
  checkOptions,
  countRule,
  durationRule,
  functionRule,
  MAX_TAG_LENGTH,
  MAX_TAGS,
  nestedRule,
  objectRule,
  oneOfRule,
  orFalse,
  refusedBy,
  runtimeRule,
  tagsRuleUpTo,
  textRule,
  ttlOptionRule,
  windowRuleUpTo,
  ttlRule,
} from './option-rules/option-rules.ts'
export { INVALID, type OptionRule, type OptionRules } from './option-rules/option-rule.ts'
export { processWide } from './runtime/process-wide.ts'
export { LoaderArgument } from './claim/loader-argument.ts'
