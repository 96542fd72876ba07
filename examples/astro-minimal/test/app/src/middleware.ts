import { defineMiddleware } from 'astro:middleware'

/** Knows the client where the address says so, as the middleware of a login does. */
export const onRequest = defineMiddleware(async (context, next) => {
  const { pathname } = context.url
  if (pathname.endsWith('/local')) Object.assign(context.locals, { user: context.cookies.get('user')?.value })
  if (pathname.endsWith('/rewritten')) return await next('/leaks/cookie')
  return await next()
})
