import { fileURLToPath } from 'node:url'

const file = (path) => fileURLToPath(new URL(path, import.meta.url))

/** Of the demo and the tests: another handler, beside which this one is measured. */
const { NEXT_SHOP_HANDLERS: handlers = '.', NEXT_SHOP_OUTPUT: distDir = '.next' } = process.env

const shared = {
  cacheHandlers: { default: file(`${handlers}/cache-handler.mjs`), remote: file(`${handlers}/cache-handler.mjs`) },
  cacheHandler: file(`${handlers}/isr-handler.mjs`),
  // Else each process also keeps pages in its own memory, which no invalidation of another process reaches.
  cacheMaxMemorySize: 0,
}

export default {
  distDir,
  cacheComponents: true,
  ...(handlers === 'stock' ? {} : shared),
}
