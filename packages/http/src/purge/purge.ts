import type { ServerResponse } from 'node:http'
import { checkOptions, functionRule, isCattlegridError, type OptionRules } from '@cattlegrid/core'
import type { Answer } from '../response/answer.ts'
import type { HttpCache } from '../route/http-cache.ts'
import type { PurgeOptions } from '../route/options.ts'
import { urlTag } from '../request/request-key.ts'
import { joinTags } from '../response/tags.ts'

const rules = {
  authorize: functionRule<(request: never) => unknown>('a function (req) => boolean'),
} satisfies OptionRules<PurgeOptions>

/** One request to the endpoint. */
export interface PurgeRequest<Req> {
  readonly request: Req
  readonly res: ServerResponse
  readonly method: string
  /** Path and query. */
  readonly target: string
}

/**
 * An endpoint that makes stored answers unusable in every process: `POST …?tag=a&tag=b&url=https://shop.example/products/7`. 204 once it is
 * done; 403 for whom `authorize` refuses; 404 for everybody where there is none; 503 where the store does not answer. A URL is that of the
 * route's key, without the parameters that do not count; its answers are found where `invalidateOnUnsafe` is on. Resolves to undefined where
 * a layer outside has answered meanwhile: that answer stays.
 *
 * @throws InvalidOptionError for an option that is unknown or has a value it cannot have.
 */
export function purgeEndpoint<Req>(
  { cache }: HttpCache,
  options: PurgeOptions<Req> | undefined,
): (asked: PurgeRequest<Req>) => Promise<Answer | undefined> {
  const { authorize } = checkOptions('purge', options, rules)
  const purge = async ({ request, method, target }: PurgeRequest<Req>): Promise<Answer> => {
    if (authorize === undefined) return says(404)
    if (!(await allows(authorize as (request: Req) => unknown, request))) return says(403)
    if (!['POST', 'DELETE', 'PURGE'].includes(method)) return says(405, { allow: 'POST, DELETE, PURGE' })
    const tags = tagsOf(target)
    if (tags === undefined || tags.length === 0) return says(400)
    try {
      await cache.invalidateTags(tags)
      return says(204)
    } catch (error) {
      if (isCattlegridError(error, 'CATTLEGRID_STORE_AWAY')) return says(503, { 'retry-after': '1' })
      throw error
    }
  }
  return async (asked) => {
    try {
      const answer = await purge(asked)
      return asked.res.headersSent ? undefined : answer
    } catch (error) {
      if (asked.res.headersSent) return undefined
      throw error
    }
  }
}

/** Only what is plainly true lets anybody in. */
async function allows<Req>(authorize: (request: Req) => unknown, request: Req): Promise<boolean> {
  try {
    return (await authorize(request)) === true
  } catch {
    return false
  }
}

function tagsOf(target: string): readonly string[] | undefined {
  const index = target.indexOf('?')
  const asked = new URLSearchParams(index < 0 ? '' : target.slice(index + 1))
  const urls = asked.getAll('url').map(tagOfUrl)
  return urls.includes(undefined) ? undefined : joinTags([...asked.getAll('tag'), ...urls])
}

function tagOfUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, host, pathname, search } = new URL(text)
  return urlTag({ scheme: protocol.slice(0, -1), host, target: pathname + search })
}

function says(status: number, fields: Readonly<Record<string, string>> = {}): Answer {
  const length: Record<string, string> = status === 204 ? {} : { 'content-length': '0' }
  const body = status === 204 ? undefined : Buffer.alloc(0)
  return { status, fields: { 'cache-control': 'no-store', ...length, ...fields }, removed: [], body }
}
