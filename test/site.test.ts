import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import MarkdownIt from 'markdown-it'
import { readDocumentList } from '../docs/.vitepress/document-list.ts'
import { linkRepositoryFiles, sourceAddress } from '../docs/.vitepress/repository-links.ts'

const root = resolve(__dirname, '..')

describe('a link of a document', () => {
  function rendered(page: string, link: string, source?: string): string {
    // The renderer of the site is this one; its types are a copy of their own.
    const markdown = new MarkdownIt()
    linkRepositoryFiles(markdown as unknown as Parameters<typeof linkRepositoryFiles>[0], root, source)
    return markdown.renderInline(`[it](${link})`, { relativePath: page })
  }

  test.each([
    ['to another document stays', 'options.md#near', '<a href="options.md#near">it</a>'],
    ['to another site stays', 'https://example.org/a.ts', '<a href="https://example.org/a.ts">it</a>'],
    ['inside its page stays', '#near', '<a href="#near">it</a>'],
    ['to the README of the repository leads to the first page', '../README.md#use-it', '<a href="/#use-it">it</a>'],
    ['to a folder leads to its README', '../packages/core', '<a href="/packages/core/README.md">it</a>'],
    ['to a source names it', '../test/faults', '<span title="test/faults, in the repository">it</span>'],
  ])('%s', (_, link, html) => {
    expect(rendered('docs/http.md', link)).toBe(html)
  })

  test('to a source leads there, where a workflow builds the site', () => {
    const env = { GITHUB_SERVER_URL: 'https://example.org', GITHUB_REPOSITORY: 'a/b', GITHUB_SHA: 'c0ffee' }
    expect(rendered('docs/http.md', '../test/faults', sourceAddress(env))).toBe(
      '<a href="https://example.org/a/b/tree/c0ffee/test/faults">it</a>',
    )
    expect(sourceAddress({})).toBeUndefined()
  })

  test('to nothing ends the build', () => {
    expect(() => rendered('docs/http.md', '../test/gone.ts')).toThrow('docs/http.md: a link to ../test/gone.ts')
  })
})

test('docs/README.md, from which the site has its sidebar, lists every page of docs/ once', () => {
  const listed = readDocumentList(root)
    .flatMap(({ items }) => items)
    .flatMap(({ link }) => (/^\/docs\/[\w-]+\.md$/.test(link) ? [link.slice('/docs/'.length)] : []))
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md') && name !== 'README.md')
  expect(listed.toSorted()).toEqual(pages.toSorted())
})
