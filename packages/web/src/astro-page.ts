import { directivesOf } from '@cattlegrid/http'
import { type PersonalReadRule, TRUSTED_FIELDS } from '@cattlegrid/http/binding'

/** Astro's own way to keep the cookies that a page has set. */
const COOKIES = Symbol.for('astro.cookies')

/** Astro renders the app's own page in the place of such a response without a body. */
const REPLACED: readonly number[] = [404, 500]

/**
 * Whose reads count, as rules declare the lifetime of pages that know nothing of it: all cookies at once,
 * because Astro reads the field, and for a client without any, too.
 */
export const WATCHED: Pick<PersonalReadRule, 'watchesFields' | 'moreFields' | 'listsCookie' | 'keyedCookies'> = {
  watchesFields: true,
  moreFields: TRUSTED_FIELDS,
  listsCookie: true,
  keyedCookies: [],
}

/**
 * Astro renders the request that it has, and no other. So that gets the fields that the cache shows, and a
 * signal that aborts when nobody waits for the page any more. Copies of it have no other fields, either.
 */
export function showTo(request: Request, shown: Request): void {
  const { headers } = request
  const isHidden = (name: string): boolean => !Headers.prototype.has.call(shown.headers, name)
  try {
    for (const name of [...headers.keys()].filter(isHidden)) headers.delete(name)
  } catch {
    // The server has made fields that cannot be changed, and copies have them all.
    directivesOf(shown).noStore()
  }
  for (const name of ['headers', 'signal', 'clone'] as const)
    Object.defineProperty(request, name, { configurable: true, value: shown[name] })
}

/** Astro adds the cookies that a page has set to the response that the page has returned. */
export function withCookies(response: Response): Response {
  const cookies = Reflect.get(response, COOKIES) as { readonly headers: () => Iterable<string> } | undefined
  const set = [...(cookies?.headers() ?? [])]
  if (set.length === 0) return response
  const changed = new Response(response.body, response)
  for (const line of set) changed.headers.append('set-cookie', line)
  return changed
}

/**
 * True for what is not stored, although it was declared: what the page itself calls private, and what Astro
 * replaces, by what a hit does not have.
 */
export function isOfItsClient({ status, headers, body }: Response): boolean {
  const isReplaced = REPLACED.includes(status) && body === null
  return isReplaced || /\b(?:private|no-store)\b/i.test(headers.get('cache-control') ?? '')
}

/** The response to a HEAD, which Astro would replace without a body. */
export function withBody(response: Response, { method }: Request): Response {
  return method === 'HEAD' && REPLACED.includes(response.status) ? new Response('', response) : response
}
