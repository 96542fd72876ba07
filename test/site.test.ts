import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import MarkdownIt from 'markdown-it'
import { readDocumentList } from '../docs/.vitepress/document-list.ts'
import { labelTables } from '../docs/.vitepress/labelled-tables.ts'
import { repositoryAddress } from '../docs/.vitepress/repository-address.ts'
import { linkRepositoryFiles, sourceAddress } from '../docs/.vitepress/repository-links.ts'
import {
  LENGTH,
  type Mode,
  PROCESSES,
  type Scene,
  sceneAt,
  stepTimes,
  stillTimes,
  storyOf,
} from '../docs/.vitepress/theme/expiry-scene.ts'
import { versionSwitch } from '../docs/.vitepress/versions.ts'

const root = resolve(__dirname, '..')
// The renderer of the site is this one; its types are a copy of their own.
type SiteMarkdown = Parameters<typeof linkRepositoryFiles>[0]

describe('a link of a document', () => {
  function rendered(page: string, link: string, source?: string): string {
    const markdown = new MarkdownIt()
    linkRepositoryFiles(markdown as unknown as SiteMarkdown, root, source)
    return markdown.renderInline(`[it](${link})`, { path: join(root, page) })
  }

  test.each([
    ['to another document stays', 'options.md#near', '<a href="options.md#near">it</a>'],
    ['to another site stays', 'https://example.org/a.ts', '<a href="https://example.org/a.ts">it</a>'],
    ['inside its page stays', '#near', '<a href="#near">it</a>'],
    ['to the README of the repository stays', '../README.md#use-it', '<a href="../README.md#use-it">it</a>'],
    ['to a folder leads to its README', '../packages/core', '<a href="/packages/core/README.md">it</a>'],
    ['to a source names it', '../test/faults', '<span title="test/faults, in the repository">it</span>'],
  ])('%s', (_, link, html) => {
    expect(rendered('docs/http.md', link)).toBe(html)
  })

  test('on the first page of the site leads to where a document is, because that page has another path there', () => {
    expect(rendered('docs/index.md', './options.md#one-call')).toBe('<a href="/docs/options.md#one-call">it</a>')
  })

  test('to a source leads there, where a workflow builds the site', () => {
    const env = { GITHUB_SERVER_URL: 'https://example.org', GITHUB_REPOSITORY: 'a/b', GITHUB_SHA: 'c0ffee' }
    expect(rendered('docs/http.md', '../test/faults', sourceAddress(env, undefined))).toBe(
      '<a href="https://example.org/a/b/tree/c0ffee/test/faults">it</a>',
    )
  })

  test('to a source leads to the branch elsewhere, and is no link where the repository has no address', () => {
    expect(sourceAddress({}, 'https://example.org/a/b')).toBe('https://example.org/a/b/tree/main')
    expect(sourceAddress({}, undefined)).toBeUndefined()
  })

  test('to nothing ends the build', () => {
    expect(() => rendered('docs/http.md', '../test/gone.ts')).toThrow('docs/http.md: a link to ../test/gone.ts')
  })
})

test('a cell of a table has the heading of its column, and the parts of a table their roles', () => {
  const markdown = new MarkdownIt()
  labelTables(markdown as unknown as SiteMarkdown)
  const html = markdown.render('| Option | Takes `it` |\n| --- | --- |\n| `ttl` | a duration |\n')
  expect(html.replaceAll('\n', '')).toBe(
    '<table role="table"><thead role="rowgroup"><tr role="row"><th role="columnheader">Option</th><th role="columnheader">Takes <code>it</code></th></tr></thead>' +
      '<tbody role="rowgroup"><tr role="row"><td role="cell" data-label="Option"><code>ttl</code></td><td role="cell" data-label="Takes it">a duration</td></tr></tbody></table>',
  )
})

test('the address of the repository is that of package.json', () => {
  expect(`git+${repositoryAddress(root)}.git`).toBe(
    (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { repository: { url: string } }).repository.url,
  )
})

test('the switch between versions names the version of the packages, and pages that exist', () => {
  const { text, items } = versionSwitch(root)
  const { version } = JSON.parse(readFileSync(join(root, 'packages/core/package.json'), 'utf8')) as { version: string }
  expect(text).toBe(`v${version}`)
  for (const { link } of items) expect(link.startsWith('https:') || existsSync(join(root, `${link}.md`))).toBe(true)
})

describe('the picture of one expiry', () => {
  const moments = Array.from({ length: LENGTH / 50 }, (_, place) => place * 50)
  const every = (mode: Mode, holds: (scene: Scene) => boolean): boolean =>
    moments.map((now) => sceneAt(mode, now)).every(holds)

  test.each(['stale', 'wait'] as const)('never shows two queries, nor two leaders: %s', (mode) => {
    expect(every(mode, ({ queries }) => queries <= 1)).toBe(true)
    expect(every(mode, ({ requests }) => requests.filter(({ doing }) => doing === 'leads').length <= 1)).toBe(true)
    expect(every(mode, ({ query, leaseHeld }) => query === undefined || leaseHeld)).toBe(true)
  })

  test.each(['stale', 'wait'] as const)('answers every request by the end of the expiry: %s', (mode) => {
    const { requests } = sceneAt(mode, (stepTimes.at(-1) ?? 0) - 1)
    expect(requests.filter(({ answered }) => !answered)).toEqual([])
    expect(new Set(requests.map(({ process }) => process)).size).toBe(PROCESSES)
  })

  test('lets nobody wait where a stale copy may be served, and wakes all together where none may', () => {
    expect(every('stale', ({ requests }) => requests.every(({ doing }) => doing !== 'waits'))).toBe(true)
    const waits = (scene: Scene): boolean => scene.requests.some(({ doing }) => doing === 'waits')
    const woken = (scene: Scene): boolean => scene.requests.some(({ doing }) => doing === 'woken')
    expect(every('wait', (scene) => !(waits(scene) && woken(scene)))).toBe(true)
    expect([every('wait', (scene) => !waits(scene)), every('wait', (scene) => !woken(scene))]).toEqual([false, false])
  })

  test.each(['stale', 'wait'] as const)('has a sentence and a still picture for each step: %s', (mode) => {
    expect(storyOf(mode)).toHaveLength(stepTimes.length)
    expect(stillTimes.map((now) => sceneAt(mode, now).step)).toEqual(stepTimes.map((_, step) => step))
  })
})

test('docs/README.md, from which the site has its sidebar, lists every page of docs/ once', () => {
  const listed = readDocumentList(root)
    .flatMap(({ items }) => items)
    .flatMap(({ link }) => (/^\/docs\/[\w-]+\.md$/.test(link) ? [link.slice('/docs/'.length)] : []))
  const pages = readdirSync(join(root, 'docs')).filter(
    (name) => name.endsWith('.md') && !/^(README|index)\.md$/.test(name),
  )
  expect(listed.toSorted()).toEqual(pages.toSorted())
})
