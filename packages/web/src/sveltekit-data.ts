import type { SvelteKitEvent } from './sveltekit-event.ts'

/** What SvelteKit writes into each response to a `__data.json`. Its load functions may set another value. */
const OF_DATA = 'private, no-store'

interface DataNode {
  readonly type?: unknown
}

/**
 * The response as it is recorded. That to a `__data.json` has a 200 also where a load function has failed, or
 * redirects: it keeps what forbids to store it. `isOwn`: a load function has set its `Cache-Control`.
 */
export async function recordable(event: SvelteKitEvent, response: Response, isOwn: boolean): Promise<Response> {
  if (!event.isDataRequest) return withSelectingField(response)
  if (response.headers.get('content-type') !== 'application/json') return response
  const text = await response.text()
  const headers = new Headers(response.headers)
  if (!isWhole(text)) headers.set('cache-control', OF_DATA)
  else if (!isOwn && headers.get('cache-control') === OF_DATA) headers.delete('cache-control')
  return new Response(text, { status: response.status, headers })
}

/** The response for the client: its browser stores a `__data.json` only where a load function says so. */
export function sendable(event: SvelteKitEvent, response: Response): Response {
  if (!event.isDataRequest || response.headers.has('cache-control')) return response
  const headers = new Headers(response.headers)
  headers.set('cache-control', OF_DATA)
  return new Response(response.body, { status: response.status, headers })
}

function isWhole(text: string): boolean {
  const { type, nodes = [] } = JSON.parse(text) as DataNode & { readonly nodes?: readonly (DataNode | null)[] }
  return type === 'data' && nodes.every((node) => node?.type !== 'error')
}

/** SvelteKit answers the error of an endpoint as JSON or as HTML, by `Accept`, and does not say so. */
function withSelectingField(response: Response): Response {
  if (response.status < 400 || response.headers.has('x-sveltekit-page')) return response
  const changed = new Response(response.body, response)
  const vary = response.headers.get('vary') ?? ''
  if (!/\baccept\b(?!-)|\*/i.test(vary)) changed.headers.append('vary', 'Accept')
  return changed
}
