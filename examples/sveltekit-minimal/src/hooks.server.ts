import { cachedHandle } from '@cattlegrid/web/sveltekit'
import type { Handle } from '@sveltejs/kit'
import { cache } from './lib/cache.ts'

// Every other route stores only responses that declare their lifetime.
export const handle: Handle = cachedHandle({
  cache,
  staleWhileRevalidate: '5m',
  cacheStatus: true,
  routes: {
    '/': { ttl: '30s', tags: ['products'] },
    '/products': { ttl: '30s', tags: ['products'] },
  },
})
