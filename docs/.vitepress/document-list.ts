import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

export interface DocumentGroup {
  readonly text: string
  readonly items: { readonly text: string; readonly link: string }[]
}

/** The headings of docs/README.md, and the documents that each lists: also the sidebar of the site. */
export function readDocumentList(root: string): DocumentGroup[] {
  const [, ...sections] = readFileSync(join(root, 'docs/README.md'), 'utf8').split(/^## /m)
  return sections.map((section) => ({
    text: section.slice(0, section.indexOf('\n')),
    items: [...section.matchAll(/^- \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, text = '', path = '']) => ({
      text: text.replaceAll('`', ''),
      link: posix.join('/docs', path),
    })),
  }))
}

/** The pages of the API reference, which `npm run api` writes: one for each entry of a package. */
export function readApiPages(root: string): DocumentGroup['items'] {
  return readdirSync(join(root, 'docs/api'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md') && file !== 'index.md')
    .toSorted((one, other) => placeOf(one) - placeOf(other) || one.localeCompare(other))
    .map((file) => ({ text: file.replace(/\.md$/, ''), link: posix.join('/docs/api', file) }))
}

/** `core`, where `createCache` is, comes first. */
const placeOf = (file: string): number => (/\/core\b/.test(file) ? 0 : 1)
