import { createCache } from '@cattlegrid/core'
import { cachedHandle } from '@cattlegrid/web/sveltekit'
import { type Handle, type HandleFetch, redirect } from '@sveltejs/kit'
import { sequence } from '@sveltejs/kit/hooks'
import { wayOf, type Locals } from './lib/ways.ts'

const ttl = { ttl: '1h' } as const

/** Knows the client, and puts what it knows where it may reach a response inside of the cache. */
const outside: Handle = async ({ event, resolve }) => {
  const user = event.cookies.get('user') ?? 'nobody'
  const way = wayOf(event)
  const locals = event.locals as Locals
  if (way !== 'no-locals') Object.assign(locals, { user, safeGetSession: async () => ({ user }) })
  if (event.isSubRequest && event.url.pathname === '/api/by-a-hook') return new Response(user)
  if (way === 'outer-field') event.setHeaders({ 'x-theme': user })
  if (way === 'outer-cookie' && user !== 'nobody') event.cookies.set('seen', user, { path: '/' })
  if (way !== 'outer-page') return await resolve(event)
  return await resolve(event, { transformPageChunk: ({ html }) => html.replace('%user%', user) })
}

const cached = cachedHandle({
  cache: createCache(),
  ttl: '1h',
  cacheStatus: true,
  routes: {
    '/leaks/[way]': ttl,
    '/api/leaks/[way]': ttl,
    '/api/me': {},
    '/api/list': ttl,
    '/api/missing': ttl,
    '/outer/[way]': ttl,
    '/page': { ...ttl, query: ['page'] },
    '/both': ttl,
    '/moved': ttl,
    '/broken': ttl,
    '/streamed': ttl,
    '/guarded': ttl,
    '/counted': ttl,
  },
})

/** Lets nobody in who has no name. */
const inside: Handle = async ({ event, resolve }) => {
  if (event.route.id === '/guarded' && event.cookies.get('user') === undefined) redirect(303, '/login')
  return await resolve(event)
}

export const handle: Handle =
  process.env['BARE'] === undefined ? sequence(outside, cached, inside) : sequence(outside, inside)

export const handleFetch: HandleFetch = async ({ event, request, fetch }) => {
  const isOwn = wayOf(event) === 'handle-fetch'
  if (isOwn) request.headers.set('x-from', event.request.headers.get('cookie') ?? 'nobody')
  return await fetch(request)
}
