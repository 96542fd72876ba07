// What a binding needs to bring requests of another kind than those of `node:http` onto the road.
export { type Ambiguity, ambiguityIn } from './request/single-fields.ts'
export { CapturedStack, type Caller } from './request/caller.ts'
export {
  type ClientReads,
  hasOnlyKeyedCookies,
  PERSONAL_FIELDS,
  PERSONAL_NAMES,
  PERSONAL_PROPERTIES,
  type PersonalRead,
  type PersonalReadRule,
} from './request/client-reads.ts'
export type { ClientSignal, HandlerRun, RequestFacts, Sink } from './road/exchange.ts'
export { type HandlerInput, shownFields, TRUSTED_FIELDS } from './request/handler-input.ts'
export { type GivenDirectives, givenDirectives } from './response/response-directives.ts'
export { judgedByError } from './response/passed-errors.ts'
export type { Judgement } from './response/storable.ts'
export type { OuterBodies } from './recorder/outer-bodies.ts'
export type { AbortCause } from './recorder/recording-result.ts'
export type { SendSubrequest, Subrequest, SubrequestMarker, SubrequestResponse } from './road/subrequest.ts'
