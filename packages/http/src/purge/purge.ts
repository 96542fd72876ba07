import type { ServerResponse } from 'node:http'
import { isCattlegridError } from '@cattlegrid/core'
import { checkOptions, type OptionRules } from '@cattlegrid/core/extend'
import { isHeadSent } from '../fields/response-state.ts'
import type { Answer } from '../response/answer.ts'
import type { HttpCache } from '../route/http-cache.ts'
import type { PurgeOptions } from '../route/options.ts'
import { joinTags } from '../response/tags.ts'
import { urlTagsOf } from './url-tags.ts'

const rules = {
  authorize: {
    accepted: 'a function (req) => boolean, also an async one',
    parse: (value: unknown) => (typeof value === 'function' ? value : undefined),
  },
} satisfies OptionRules<PurgeOptions>

/** What a client reads whose query cannot be read. */
const USAGE = 'Name what to purge in the query, such as ?tag=catalogue or ?url=https://shop.example/products/7\n'

/** A request for a purge endpoint, as its framework has it. */
export interface PurgeRequest<Req> {
  readonly request: Req
  readonly res: ServerResponse
  readonly method: string
  /** Path and query. */
  readonly target: string
}

/**
 * Makes an endpoint that invalidates stored responses in every process, by
 * `POST …?tag=a&tag=b&url=https://shop.example/products/7`, or, with `soft` in the query, makes them stale.
 * It answers 204 when that is done, 400 for another query, 403 where `authorize` refuses, 404 without it, and
 * 503 while the store is away. A URL is that of the route's key, without unkeyed parameters; only responses
 * of routes with `invalidateOnUnsafe` have it. Resolves to undefined if an outer layer has answered
 * meanwhile.
 *
 * @example
 * import { httpCache, purgeEndpoint, sendAnswer } from '@cattlegrid/http'
 *
 * const purge = purgeEndpoint(httpCache(cache), { authorize: () => true })
 * const answer = await purge({ request: req, res, method: 'POST', target: '/purge?tag=catalogue' })
 * if (answer !== undefined) sendAnswer(res, answer)
 * @throws InvalidOptionError for an unknown option or a value that is not accepted.
 */
export function purgeEndpoint<Req>(
  { cache }: HttpCache,
  options: PurgeOptions<Req> | undefined,
): (purgeRequest: PurgeRequest<Req>) => Promise<Answer | undefined> {
  const { authorize } = checkOptions('purge', options, rules)
  const purge = async ({ request, method, target }: PurgeRequest<Req>): Promise<Answer> => {
    if (authorize === undefined) return answerOf(404)
    if (!(await allows(authorize as (request: Req) => unknown, request))) return answerOf(403)
    if (!['POST', 'DELETE', 'PURGE'].includes(method)) return answerOf(405, { allow: 'POST, DELETE, PURGE' })
    const purged = purgedBy(target)
    if (purged === undefined) return answerOf(400, { 'content-type': 'text/plain' }, USAGE)
    try {
      for (const tags of purged.lists) await (purged.soft ? cache.expireTags(tags) : cache.invalidateTags(tags))
      return answerOf(204)
    } catch (error) {
      if (isCattlegridError(error, 'CATTLEGRID_STORE_AWAY')) return answerOf(503, { 'retry-after': '1' })
      throw error
    }
  }
  return async (purgeRequest) => {
    const { res } = purgeRequest
    try {
      const answer = await purge(purgeRequest)
      return isHeadSent(res) ? undefined : answer
    } catch (error) {
      if (isHeadSent(res)) return undefined
      throw error
    }
  }
}

/** Only `true` authorizes: another value, or an error, does not. */
async function allows<Req>(authorize: (request: Req) => unknown, request: Req): Promise<boolean> {
  try {
    return (await authorize(request)) === true
  } catch {
    return false
  }
}

interface Purged {
  /** The tags, in lists that one invalidation can take each. */
  readonly lists: readonly (readonly string[])[]
  /** True where the responses become stale. */
  readonly soft: boolean
}

/** The purge that a query names; undefined where it cannot be read, or names nothing. */
function purgedBy(target: string): Purged | undefined {
  const index = target.indexOf('?')
  const parameters = new URLSearchParams(index < 0 ? '' : target.slice(index + 1))
  const urls = parameters.getAll('url')
  if (!urls.every((url) => URL.canParse(url))) return undefined
  const urlTags = urls.map(urlTagsOf)
  const named = joinTags(
    parameters.getAll('tag'),
    urlTags.map(([withHost]) => withHost),
  )
  if (named === undefined || named.length === 0) return undefined
  const flags = parameters.getAll('soft')
  if (!flags.every((flag) => flag === '' || flag === '1')) return undefined
  // The tags of routes whose key has no host.
  const lists = urls.length === 0 ? [named] : [named, urlTags.map(([, withoutHost]) => withoutHost)]
  return { lists, soft: flags.length > 0 }
}

function answerOf(status: number, fields: Readonly<Record<string, string>> = {}, text = ''): Answer {
  const body = status === 204 ? undefined : Buffer.from(text)
  const length: Record<string, string> = body === undefined ? {} : { 'content-length': String(body.length) }
  return { status, fields: { 'cache-control': 'no-store', ...length, ...fields }, removed: [], body }
}
