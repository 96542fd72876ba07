import { fileURLToPath } from 'node:url'

const file = (path) => fileURLToPath(new URL(path, import.meta.url))

const shared = {
  cacheHandlers: { default: file('cache-handler.mjs'), remote: file('cache-handler.mjs') },
  cacheHandler: file('isr-handler.mjs'),
  // Else each process also keeps pages in its own memory, which no invalidation of another process reaches.
  cacheMaxMemorySize: 0,
}

/** Of the demo, which compares: the handlers that Next has, and one that many use. It knows no `'use cache'`. */
const others = {
  stock: {},
  community: { cacheHandler: file('demo/community-handler.mjs'), cacheMaxMemorySize: 0 },
}

const { NEXT_SHOP_HANDLERS: handlers = '', NEXT_SHOP_OUTPUT: distDir = '.next' } = process.env

export default { distDir, cacheComponents: true, ...(others[handlers] ?? shared) }
