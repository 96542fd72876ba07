// For the packages of this repository alone, which are released together: no promise of semantic versioning.
export { ownListener } from './capture/close-listeners.ts'
export { ErrorFields } from './capture/error-fields.ts'
export { invalidateAfterWrite } from './purge/invalidate-after-write.ts'
export { notePassedError } from './response/passed-errors.ts'
export { watchedMethods } from './capture/watched-methods.ts'
export { toFields, toText } from './fields/header-fields.ts'
export { changedFieldNames } from './response/answer.ts'
export { derivedQuery } from './request/url-rewrite.ts'
