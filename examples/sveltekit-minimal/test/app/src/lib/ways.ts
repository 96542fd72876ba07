import type { RequestEvent } from '@sveltejs/kit'
import { getRequestEvent } from '$app/server'

export interface Locals {
  user?: string
  safeGetSession?: () => Promise<{ user: string }>
}

export function wayOf({ params }: Pick<RequestEvent, 'params'>): string {
  return params['way'] ?? ''
}

const localsOf = (event: RequestEvent): Locals => event.locals

/** How code in SvelteKit learns who its client is. */
const WAYS: Readonly<Record<string, (event: RequestEvent) => unknown>> = {
  'cookies-get': ({ cookies }) => cookies.get('user'),
  'cookies-all': ({ cookies }) => cookies.getAll(),
  'cookies-of-request-event': () => getRequestEvent().cookies.get('user'),
  'cookie-field': ({ request }) => request.headers.get('cookie'),
  fields: ({ request }) => [...request.headers],
  'copied-request': ({ request }) => [...new Request(request).headers],
  authorization: ({ request }) => request.headers.get('authorization'),
  'user-field': ({ request }) => request.headers.get('x-user-id'),
  'locals-user': (event) => localsOf(event).user,
  'locals-spread': (event) => ({ ...localsOf(event) }),
  'locals-session': async (event) => await localsOf(event).safeGetSession?.(),
  address: ({ getClientAddress }) => getClientAddress(),
  platform: ({ platform }) => (platform as { req: { headers: object } }).req.headers,
  fetch: async ({ fetch }) => await (await fetch('/api/me')).text(),
  'fetch-of-a-request': async ({ fetch, url }) => await (await fetch(new Request(new URL('/api/me', url)))).text(),
  'fetch-of-a-cached-route': async ({ fetch }) => await (await fetch('/api/leaks/cookies-get')).text(),
  'fetch-of-a-field': async ({ fetch }) => await (await fetch('/api/field')).text(),
  'fetch-of-a-hook': async ({ fetch }) => await (await fetch('/api/by-a-hook')).text(),
  'fetch-of-a-local': async ({ fetch }) => await (await fetch('/api/leaks/locals-user')).text(),
  'fetch-of-an-address': async ({ fetch }) => await (await fetch('/api/leaks/address', { credentials: 'omit' })).text(),
  'fetch-by-post': async ({ fetch }) => await (await fetch('/api/me', { method: 'POST' })).text(),
  'handle-fetch': async ({ fetch }) => await (await fetch('/api/from')).text(),
}

export async function learnBy(event: RequestEvent): Promise<string> {
  return JSON.stringify((await WAYS[wayOf(event)]?.(event)) ?? null)
}
