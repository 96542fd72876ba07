import { resolve } from 'node:path'
import { defineConfig } from 'vitepress'
import { fragmentOf } from '../../scripts/docs/fragment.mjs'
import { readApiPages, readDocumentList } from './document-list.ts'
import { linkRepositoryFiles, sourceAddress } from './repository-links.ts'

const root = resolve(import.meta.dirname, '../..')
const groups = [...readDocumentList(root), { text: 'API', items: readApiPages(root) }]

/** The bars of a cattle grid. */
const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" stroke="#c2410c" stroke-width="2"><path d="M2 2v12M6 2v12M10 2v12M14 2v12"/></svg>'

/** The site has the Markdown files of the repository at their own paths, so that one relative link works in both. */
export default defineConfig({
  title: 'cattlegrid',
  description: 'Cache-stampede protection for Node web frameworks: one load per expiry, for the whole fleet',
  head: [['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }]],
  srcDir: '..',
  srcExclude: ['.github/**', '**/dist/**', '**/coverage/**', '.stryker-tmp/**'],
  rewrites: { 'README.md': 'index.md' },
  outDir: 'dist',
  cacheDir: resolve(root, 'node_modules/.cache/vitepress'),
  markdown: {
    anchor: { slugify: fragmentOf },
    config: (markdown) => markdown.use(linkRepositoryFiles, root, sourceAddress(process.env)),
  },
  themeConfig: {
    nav: groups.slice(0, 4).map(({ text, items: [first] }) => ({ text, link: first?.link ?? '/' })),
    sidebar: groups,
    outline: [2, 3],
    search: { provider: 'local' },
  },
})
