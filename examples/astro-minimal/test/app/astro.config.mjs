import node from '@astrojs/node'
import { defineConfig } from 'astro/config'

const isBare = process.env['BARE'] !== undefined
const provider = { name: 'cattlegrid', entrypoint: new URL('src/cache.ts', import.meta.url) }

export default defineConfig({
  output: 'server',
  adapter: node({ mode: 'standalone' }),
  ...(isBare ? {} : { cache: { provider } }),
  outDir: isBare ? './dist/bare' : './dist/cached',
  routeRules: { '/rules/[...rest]': { maxAge: 3600, tags: ['of a rule'] } },
  security: { checkOrigin: false },
  vite: { ssr: { noExternal: true } },
})
