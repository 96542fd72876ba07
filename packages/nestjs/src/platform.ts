import type { NodeExchange, PassedError } from '@cattlegrid/http'
import type { ExecutionContext } from '@nestjs/common'

/** Distinguishes handlers that answer one URL. */
export interface HandlerPlace {
  readonly name: string
  /** Request fields without which another handler would answer, such as one of another version. */
  readonly routingFields: Readonly<Record<string, string>> | undefined
}

/** What lies behind the cache, for one request. */
export interface HandlerCalls {
  /** Runs interceptors, pipes and the handler; Nest then sends what they return. */
  run(): void
  /** Passes an error to the exception filters. Its fields are set on the response. */
  fail(error: PassedError): void
}

/** The web framework under Nest. */
export interface Platform {
  open(context: ExecutionContext, place: HandlerPlace, handler: HandlerCalls): NodeExchange
  /** Makes Nest send nothing for a response that the cache has sent. */
  ignoreReply(context: ExecutionContext): void
  /** Passes an error to the global exception filters, when Nest's own call of the handler has ended. */
  failLate(context: ExecutionContext, error: unknown): void
}
