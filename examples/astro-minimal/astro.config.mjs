import node from '@astrojs/node'
import { defineConfig } from 'astro/config'

export default defineConfig({
  output: 'server',
  adapter: node({ mode: 'standalone' }),
  cache: { provider: { name: 'cattlegrid', entrypoint: new URL('src/cache.ts', import.meta.url) } },
  // The build holds all packages: in a workspace, Node would find other versions beside it than Astro's.
  vite: { ssr: { noExternal: true } },
})
