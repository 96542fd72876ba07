// The rules of options, by the names that authors of extensions read: `rule.duration(…)`.
export {
  booleanRule as boolean,
  byteSizeRule as byteSize,
  computedTtlRule as computedTtl,
  countRule as count,
  durationRule as duration,
  eitherRule as either,
  functionRule as function,
  nestedRule as nested,
  objectRule as object,
  oneOfRule as oneOf,
  orFalse,
  runtimeRule as runtime,
  tagsRuleWith as tags,
  textRule as text,
  ttlRule as ttl,
  windowRule as window,
} from './option-rules.ts'
