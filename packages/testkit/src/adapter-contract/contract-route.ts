import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ResponseDirectives, RouteOptions } from '@cattlegrid/http'

export type ContractMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PROPFIND' | 'REPORT' | 'SEARCH' | 'QUERY'

/**
 * A route, described without any framework. A factory declares it in its framework, as a user of that
 * framework would write it.
 */
export interface ContractRoute {
  /** Default: `'GET'`. The framework answers `HEAD` requests for such a path as it always does. */
  readonly method?: ContractMethod | undefined
  /** `:name` stands for one segment. */
  readonly path: string
  /**
   * The options of the route. Undefined means app mode: the response's own fields say whether it may
   * be stored.
   */
  readonly cache?: RouteOptions | undefined
  /** Runs before the cache, where the framework's authentication would run. */
  readonly before?: ((request: ContractRequest) => ContractMiddlewareResult) | undefined
  /** A rejection stands for a handler that throws. */
  readonly handle: (request: ContractRequest) => Promise<ContractAnswer>
}

/** The request as the framework's handler sees it. */
export interface ContractRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** The query as the framework parsed it. */
  readonly query: unknown
  /** The directives of this response, from where the adapter shows them to handlers. */
  readonly directives: ResponseDirectives
  /** Node's request and response. */
  readonly raw: { readonly req: IncomingMessage; readonly res: ServerResponse }
}

/**
 * What the middleware before the cache does: it sets header fields of the response, answers 401, or wraps
 * Node's response.
 */
export interface ContractMiddlewareResult {
  readonly refuse?: boolean | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Is given Node's response, to replace its methods as middleware does. */
  readonly wrap?: ((response: ServerResponse) => void) | undefined
}

/** Header fields by name; several values are several lines. */
export type ContractHeaders = Readonly<Record<string, string | readonly string[]>>

/** Fields that follow the body. `Trailer` announces them if the framework sends that field. */
export type ContractTrailers = Readonly<Record<string, string>>

interface Head {
  readonly status: number
  readonly headers: ContractHeaders
}

/** A response, and the way in which the handler sends it. */
export type ContractAnswer =
  | (Head & { readonly send: 'json'; readonly body: unknown })
  | (Head & { readonly send: 'text'; readonly body: string })
  | (Head & { readonly send: 'bytes'; readonly body: Buffer })
  | (Head & { readonly send: 'stream'; readonly body: Readable; readonly trailers?: ContractTrailers | undefined })
  /** A status and header fields, without a body. */
  | (Head & { readonly send: 'nothing' })
  /**
   * Written directly to Node's response, bypassing the framework, which treats what it throws as a rejection
   * of the handler.
   */
  | { readonly send: 'raw'; readonly write: (response: ServerResponse) => void }

export const json = (body: unknown, headers: ContractHeaders = {}, status = 200): ContractAnswer => ({
  send: 'json',
  body,
  headers,
  status,
})

export const text = (body: string, headers: ContractHeaders = {}, status = 200): ContractAnswer => ({
  send: 'text',
  body,
  headers,
  status,
})

export const bytes = (body: Buffer, headers: ContractHeaders = {}, status = 200): ContractAnswer => ({
  send: 'bytes',
  body,
  headers,
  status,
})

export const stream = (chunks: Iterable<string | Buffer>, headers: ContractHeaders = {}): ContractAnswer => ({
  send: 'stream',
  body: Readable.from(chunks, { objectMode: false }),
  headers,
  status: 200,
})

export const nothing = (status: number, headers: ContractHeaders = {}): ContractAnswer => ({
  send: 'nothing',
  headers,
  status,
})

/** Sends fewer bytes than its Content-Length declares, then fails. */
export const aborted = (): ContractAnswer => ({
  send: 'stream',
  body: Readable.from(half(), { objectMode: false }),
  headers: { 'content-type': 'text/plain', 'content-length': '1000' },
  status: 200,
})

async function* half(): AsyncGenerator<string> {
  yield 'half of it'
  // After two turns of the event loop the first bytes are on the wire, so the failure comes behind them.
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  throw new Error('the source of the body broke')
}

/** Sends some bytes, then sends nothing more and does not end. */
export const stalled = (): ContractAnswer => ({
  send: 'stream',
  body: Readable.from(stall(), { objectMode: false }),
  headers: { 'content-type': 'text/plain' },
  status: 200,
})

async function* stall(): AsyncGenerator<string> {
  yield 'the beginning'
  await never()
}

export const hangUp = (): ContractAnswer => ({
  send: 'raw',
  write: (response) => {
    response.destroy()
  },
})

export const never = (): Promise<never> => new Promise(() => {})

/** A handler that counts its runs. */
export interface CountedHandler {
  readonly handle: ContractRoute['handle']
  readonly runs: number
}

export function counted(
  answer: (run: number, request: ContractRequest) => ContractAnswer | Promise<ContractAnswer>,
): CountedHandler {
  let runs = 0
  return {
    handle: async (request) => answer(++runs, request),
    get runs() {
      return runs
    },
  }
}
