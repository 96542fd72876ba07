import { originForm } from '../request/eligible.ts'
import type { Exchange } from '../road/exchange.ts'
import { invalidateAfterWrite } from '../invalidate-after-write.ts'
import { linesOf } from '../fields/header-fields.ts'
import { withQuery } from '../request/query.ts'
import { keyedHost, urlTag } from '../request/request-key.ts'
import type { Route } from '../route/route.ts'

/** RFC 9110 section 9.2.1, and the safe methods of WebDAV (RFC 3253, 4918, 5323) and RFC 10008. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'REPORT', 'SEARCH', 'QUERY'])

/** True if a request may change its resource (RFC 9110 section 9.2.1). */
export function isUnsafe(method: string): boolean {
  return !SAFE.has(method)
}

/**
 * When an unsafe request succeeds, invalidates the stored responses of its URL, and of the URLs of the same
 * origin that its response names (RFC
 * 9111 section 4.4). The response ends after that: its client must not read an old one.
 */
export function invalidateAfter(
  exchange: Exchange,
  { cache, keyRule, query }: Pick<Route, 'cache' | 'keyRule' | 'query'>,
): void {
  const { scheme } = exchange
  const host = keyedHost(exchange.host, keyRule)
  exchange.delayEnd((fields) => {
    const tags = (): Set<string> => {
      const named = ['location', 'content-location'].flatMap((name) => linesOf(fields, name))
      const urls = [originForm(exchange.target), ...named.map((url) => resolve(url, exchange, host))]
      const targets = urls.filter((target) => target !== undefined)
      return new Set(targets.map((target) => urlTag({ scheme, host, target: withQuery(target, query) })))
    }
    return invalidateAfterWrite(cache, `The ${exchange.method} of a URL`, tags)
  })
}

/**
 * The path and query of a URL of the same origin, also where that has the host in the key; undefined for one
 * of another origin.
 */
function resolve(url: string, { scheme, host, target }: Exchange, inKey: string): string | undefined {
  try {
    const base = new URL(`${scheme}://${host}${originForm(target)}`)
    const { origin, pathname, search } = new URL(url, base)
    const isSame = origin === base.origin || (inKey !== '' && origin === new URL(`${scheme}://${inKey}`).origin)
    return isSame ? pathname + search : undefined
  } catch {
    return undefined
  }
}
