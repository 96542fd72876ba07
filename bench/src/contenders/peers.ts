import type { Open } from './contender.ts'

/** Loaded only in the process that measures it: the others shall not have it in their memory. */
export const peers: Readonly<Record<string, () => Promise<{ readonly open: Open }>>> = {
  'lru-cache fetch': () => import('./lru-cache-fetch.ts'),
  'layered-loader': () => import('./layered-loader.ts'),
  'async-cache-dedupe': () => import('./async-cache-dedupe.ts'),
  'cache-manager': () => import('./cache-manager.ts'),
  ocache: () => import('./ocache.ts'),
  cachified: () => import('./cachified.ts'),
  cacheable: () => import('./cacheable.ts'),
  bentocache: () => import('./bentocache.ts'),
}
