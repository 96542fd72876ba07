import { directivesOf } from '@cattlegrid/http'
import { FetchReads } from './client-reads.ts'
import type { SvelteKitEvent } from './sveltekit-event.ts'

/** Those of SvelteKit's `ResolveOptions` that the cache gives. */
export interface PageOptions {
  readonly transformPageChunk?: (input: { html: string; done: boolean }) => string
}

/** A value that no cookie of a client has. */
const OF_CLIENT = '\0'

/** Fields that SvelteKit itself sets, and those that tell nothing about a client. */
const HARMLESS = [
  'allow',
  'cache-control',
  'content-length',
  'content-security-policy',
  'content-security-policy-report-only',
  'content-type',
  'etag',
  'link',
  'location',
  'server-timing',
  'set-cookie',
  'vary',
]

/** The methods of events inside of a place, with those that they call. */
const ofOuter = new WeakMap<SvelteKitEvent['setHeaders'], SvelteKitEvent['setHeaders']>()

let hasWarned = false

/**
 * True if a hook outside of the cache has set a cookie. SvelteKit adds it to what `resolve` returns, and a
 * hit does not call that.
 */
export function hasSetCookie({ cookies, request }: SvelteKitEvent): boolean {
  const all = FetchReads.unnoticed(request, () => cookies.getAll({ decode: () => OF_CLIENT }))
  return all.some(({ value }) => value !== OF_CLIENT)
}

/**
 * What hooks outside of the cache put into a response inside of it: fields by `event.setHeaders`, and changes
 * of the page by `transformPageChunk`. They may be made of what they know about the client, and no read of it
 * is noticed: such a response is not stored.
 */
export class WatchedLayers {
  readonly #setOuter: SvelteKitEvent['setHeaders']
  /** The fields that were set behind the cache. */
  readonly #set = new Set<string>()
  #page = ''

  constructor({ setHeaders }: SvelteKitEvent) {
    this.#setOuter = setHeaders
    ofOuter.set(this.setHeaders, setHeaders)
  }

  readonly setHeaders: SvelteKitEvent['setHeaders'] = (fields) => {
    this.#setOuter(fields)
    for (const name of Object.keys(fields)) this.#set.add(name.toLowerCase())
  }

  /** True if code behind the cache has set this field; `name` in lower case. */
  hasSet(name: string): boolean {
    return this.#set.has(name)
  }

  readonly options: PageOptions = {
    transformPageChunk: ({ html }) => {
      this.#page += html
      return html
    },
  }

  /** Returns the same response. Forbids that it is stored where hooks outside have changed it. */
  async check(response: Response, request: Request): Promise<Response> {
    const [field] = this.#outerFields(response)
    if (field !== undefined) forbid(request, `sets ${field} by event.setHeaders`)
    if (this.#page === '' || response.body === null || !isPage(response)) return response
    const reader: ReadableStreamDefaultReader<Uint8Array> = response.body.getReader()
    const first = await reader.read()
    if (!new TextDecoder().decode(first.value).startsWith(this.#page))
      forbid(request, 'changes pages by transformPageChunk')
    return new Response(continued(first.value, reader), response)
  }

  /** SvelteKit refuses to set a field twice. The response has its fields: none that is set now reaches it. */
  #outerFields({ headers }: Response): string[] {
    let set = this.#setOuter
    for (let outer = ofOuter.get(set); outer !== undefined; outer = ofOuter.get(set)) set = outer
    return [...headers].flatMap(([name, value]) => {
      if (this.#set.has(name) || HARMLESS.includes(name) || name.startsWith('x-sveltekit-')) return []
      try {
        set({ [name]: value })
        return []
      } catch {
        return [name]
      }
    })
  }
}

function isPage({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/html') === true
}

function continued(
  first: Uint8Array | undefined,
  reader: ReadableStreamDefaultReader<Uint8Array>,
): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      if (first !== undefined) controller.enqueue(first)
    },
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: async (reason) => await reader.cancel(reason),
  })
}

function forbid(request: Request, why: string): void {
  directivesOf(request).noStore()
  if (hasWarned) return
  hasWarned = true
  process.emitWarning(
    `A hook before cachedHandle ${why}: the response is not stored, as it may hold what the hook knows of the client. ` +
      'Put the hook behind cachedHandle in sequence, or let it change the response that resolve returns.',
    { type: 'CattlegridWarning', code: 'CATTLEGRID_OUTER_VALUE' },
  )
}
