import type { APIContext } from 'astro'

/** How code in Astro learns who its client is. */
const WAYS: Readonly<Record<string, (context: APIContext) => unknown>> = {
  cookie: ({ cookies }) => cookies.get('user')?.value,
  'has-cookie': ({ cookies }) => (cookies.has('alice') ? 'alice' : cookies.has('bruno') && 'bruno'),
  'cookie-field': ({ request }) => request.headers.get('cookie'),
  fields: ({ request }) => [...request.headers],
  'copied-request': ({ request }) => [...new Request(request).headers],
  'cloned-request': ({ request }) => request.clone().headers.get('cookie'),
  'copied-headers': ({ request }) => new Headers(request.headers).get('cookie'),
  forwarded: ({ request }) => request.headers.get('x-forwarded-proto'),
  authorization: ({ request }) => request.headers.get('authorization'),
  'user-field': ({ request }) => request.headers.get('x-user-id'),
  session: async ({ session }) => await session?.get('user'),
  local: ({ locals }) => (locals as { user?: string }).user,
}

export async function learnBy(context: APIContext): Promise<string> {
  return JSON.stringify((await WAYS[context.params['way'] ?? '']?.(context)) ?? null)
}
