import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import type { PurgeOptions, RouteOptions } from '@cattlegrid/http'
import type { Express } from 'express'

/** All that a handler can look at: an attack has to come through one of these. */
export interface Seen {
  readonly method: string
  /** As the framework shows it. */
  readonly url: string
  readonly rawUrl: string | undefined
  /** As the framework trusts it. */
  readonly site: string
  readonly scheme: string
  readonly headers: IncomingHttpHeaders
  readonly distinct: Readonly<Record<string, unknown>>
  readonly lines: readonly string[]
  readonly query: Readonly<Record<string, unknown>>
  readonly params: Readonly<Record<string, unknown>>
}

/** What a handler answers. */
export interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Readable
}

/** A page of the shop, in no framework's words. */
export interface Page {
  /** Default: `'GET'`; `HEAD` of such a path is answered as the framework does by itself. */
  readonly method?: 'GET' | 'POST'
  /** `:name` stands for one segment, a star at the end for all that follows. */
  readonly path: string
  /** undefined: app mode, the answer says itself whether it may be kept. */
  readonly cache?: RouteOptions | undefined
  /** A layer in front of the cache: fields of this request's answer. */
  readonly outside?: ((seen: Seen) => Readonly<Record<string, string>>) | undefined
  /**
   * `run`: how often this page's handler was asked so far. `look`: what there is to see at that moment. A rejection is what the framework does
   * with a handler that throws.
   */
  readonly handle: (seen: Seen, run: number, look: () => Seen) => Reply | Promise<Reply>
}

/** The most careless handler there is: whatever a client sends stands in its answer. */
export function mirror(seen: Seen, run: number): Reply {
  return { headers: { 'content-type': 'text/plain' }, body: `run ${run} of ${JSON.stringify(seen)}` }
}

/** A handler that looks at nothing. */
export function plain(_: Seen, run: number): Reply {
  return { headers: { 'content-type': 'text/plain' }, body: `run ${run}` }
}

/** What links back to a page of a shop are made of. */
export function links({ headers, site, scheme, url }: Seen, run: number): Reply {
  const hosts = [headers.host, headers['x-forwarded-host'], headers['x-host'], site].map(String)
  return { body: `run ${run}: ${hosts.map((host) => `${scheme}://${host}${url}`).join(' ')}` }
}

export interface ShopOptions {
  /** Whether the app believes `X-Forwarded-*`, as behind a proxy. */
  readonly trust: boolean
  /** Opens the purge endpoint at /purge. */
  readonly purge?: PurgeOptions<Pick<IncomingMessage, 'headers'>> | undefined
  /** On Express: layers in front of everything. */
  readonly prepare?: ((app: Express) => void) | undefined
  /** A layer in front of the cache: returns the parsed query that the handler sees. */
  readonly layer?: ((query: Record<string, unknown>, req: IncomingMessage) => Record<string, unknown>) | undefined
  /** On Fastify: another parser of queries than its own. */
  readonly parseQuery?: ((text: string) => Record<string, unknown>) | undefined
}
