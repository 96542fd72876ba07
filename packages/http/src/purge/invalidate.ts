import type { ServerResponse } from 'node:http'
import { parseHead } from '../fields/head-arguments.ts'
import { originForm } from '../request/eligible.ts'
import type { Exchange } from '../exchange.ts'
import { linesOf, toFields } from '../fields/header-fields.ts'
import type { HttpCache } from '../route/http-cache.ts'
import { type QueryRule, withQuery } from '../request/query.ts'
import { urlTag } from '../request/request-key.ts'

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE'])

/** Whether a request may change what its URL stands for (RFC 9110 section 9.2.1). */
export function isUnsafe(method: string): boolean {
  return !SAFE.has(method)
}

/**
 * RFC 9111 section 4.4: when an unsafe request succeeds, what is stored of its URL, and of those that its answer names on the same host, is
 * out of date. The answer ends only when that is done: its client may ask at once.
 */
export function invalidateAfter(exchange: Exchange, { cache }: HttpCache, query: QueryRule): void {
  const { res } = exchange
  onSuccess(res, (named) => {
    const urls = [originForm(exchange.target), ...named.map((url) => resolve(url, exchange))]
    const tags = urls.flatMap((target) =>
      target === undefined
        ? []
        : [urlTag({ scheme: exchange.scheme, host: exchange.host, target: withQuery(target, query) })],
    )
    // A store that is away is no fault of the request: the engine tells it as an event.
    return cache.invalidateTags([...new Set(tags)]).catch(() => undefined)
  })
}

/** A target of the same origin as a path with its query; undefined for one of another origin. */
function resolve(url: string, { scheme, host, target }: Exchange): string | undefined {
  try {
    const base = new URL(`${scheme}://${host}${originForm(target)}`)
    const { origin, pathname, search } = new URL(url, base)
    return origin === base.origin ? pathname + search : undefined
  } catch {
    return undefined
  }
}

/** Calls `act` with the URLs that a 2xx or 3xx names, and lets the response end once it is done. */
function onSuccess(res: ServerResponse, act: (named: readonly string[]) => Promise<void>): void {
  const { writeHead, end } = res as Readonly<Record<'writeHead' | 'end', (...args: never[]) => unknown>>
  let acting: Promise<void> | undefined
  const begin = (status: number, args: readonly unknown[]): void => {
    if (acting !== undefined || status < 200 || status >= 400) return
    const { fields } = args.length === 0 ? { fields: toFields(res.getHeaders()) } : parseHead(res, args)
    acting = act([...linesOf(fields, 'location'), ...linesOf(fields, 'content-location')])
  }
  Object.assign(res, {
    writeHead(...args: unknown[]): unknown {
      begin(Number(args[0]), args)
      return Reflect.apply(writeHead, res, args)
    },
    end(...args: unknown[]): unknown {
      if (!res.headersSent) begin(res.statusCode, [])
      if (acting === undefined) return Reflect.apply(end, res, args)
      void acting.then(() => void Reflect.apply(end, res, args))
      return res
    },
  })
}
