import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { ResponseDirectives, RouteOptions } from '@cattlegrid/http'

/** A route in no framework's words. A factory puts each into its own framework's, as a user of it would write it. */
export interface ContractRoute {
  /** Default: `'GET'`; `HEAD` of such a path is answered as the framework does by itself. */
  readonly method?: 'GET' | 'HEAD' | 'POST' | undefined
  /** `:name` stands for one segment. */
  readonly path: string
  /** The options of the route; undefined: app mode, the answer says itself whether it may be kept. */
  readonly cache?: RouteOptions | undefined
  /** Stands in front of the cache, where the framework's authentication would stand. */
  readonly before?: ((request: ContractRequest) => ContractDoor) | undefined
  /** A rejection is what the framework does with a handler that throws. */
  readonly handle: (request: ContractRequest) => Promise<ContractAnswer>
}

/** What the handler of a framework sees of a request. */
export interface ContractRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** As the framework parsed it. */
  readonly query: unknown
  /** What a handler may say about its answer: where the framework shows it. */
  readonly word: ResponseDirectives
}

/** What stands in front of the cache does: sets header fields of this request's answer, or answers 401 itself. */
export interface ContractDoor {
  readonly refuse?: boolean | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

export type ContractHeaders = Readonly<Record<string, string | readonly string[]>>

/** Fields that are sent behind the body, and announced in `Trailer` where the framework does so. */
export type ContractTrailers = Readonly<Record<string, string>>

interface Head {
  readonly status: number
  readonly headers: ContractHeaders
}

/** An answer, and the idiom to send it by. */
export type ContractAnswer =
  | (Head & { readonly send: 'json'; readonly body: unknown })
  | (Head & { readonly send: 'text'; readonly body: string })
  | (Head & { readonly send: 'bytes'; readonly body: Buffer })
  | (Head & { readonly send: 'stream'; readonly body: Readable; readonly trailers?: ContractTrailers | undefined })
  /** A status and header fields alone. */
  | (Head & { readonly send: 'nothing' })
  /** Past the framework, on Node's own response. What it throws, the framework treats like a rejection of the handler. */
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

/** Sends some bytes of a body that it declared longer, then fails. */
export const cutOff = (): ContractAnswer => ({
  send: 'stream',
  body: Readable.from(half(), { objectMode: false }),
  headers: { 'content-type': 'text/plain', 'content-length': '1000' },
  status: 200,
})

async function* half(): AsyncGenerator<string> {
  yield 'half of it'
  // Two turns: what was yielded is on the wire before the failure is seen.
  await new Promise(setImmediate)
  await new Promise(setImmediate)
  throw new Error('the source of the body broke')
}

/** Sends some bytes and then neither more of them nor an end. */
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
