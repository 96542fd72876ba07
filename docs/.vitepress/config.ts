import { resolve } from 'node:path'
import { defineConfig } from 'vitepress'
import { fragmentOf } from '../../scripts/docs/fragment.mjs'
import { readApiPages, readDocumentList } from './document-list.ts'
import { labelTables } from './labelled-tables.ts'
import { repositoryAddress } from './repository-address.ts'
import { FIRST_PAGE, linkRepositoryFiles, sourceAddress } from './repository-links.ts'
import { searchOptions } from './search.ts'
import { versionSwitch } from './versions.ts'

const root = resolve(import.meta.dirname, '../..')
const groups = [...readDocumentList(root), { text: 'API', items: readApiPages(root) }]
const repository = repositoryAddress(root)

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
  rewrites: { [FIRST_PAGE]: 'index.md' },
  outDir: 'dist',
  cacheDir: resolve(root, 'node_modules/.cache/vitepress'),
  markdown: {
    // Of the default themes, some colours are too pale to read.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    anchor: { slugify: fragmentOf },
    config: (markdown) =>
      markdown.use(linkRepositoryFiles, root, sourceAddress(process.env, repository)).use(labelTables),
  },
  themeConfig: {
    nav: [
      ...groups.slice(0, 4).map(({ text, items: [first] }) => ({ text, link: first?.link ?? '/' })),
      { text: 'API', link: '/docs/api/@cattlegrid/core' },
      versionSwitch(root),
    ],
    sidebar: groups,
    outline: [2, 3],
    search: { provider: 'local', options: { miniSearch: { searchOptions } } },
    ...(repository && {
      socialLinks: [{ icon: 'github', link: repository, ariaLabel: 'The repository' }],
      editLink: { pattern: `${repository}/edit/main/:path`, text: 'Edit this page' },
    }),
  },
})
