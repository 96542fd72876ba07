import { describe, expect, test } from '@jest/globals'
import MiniSearch, { type SearchResult } from 'minisearch'
import { searchOptions } from '../../docs/.vitepress/search.ts'
import { searchIndex } from './built-site.ts'

const builtIndex = searchIndex()
const index = MiniSearch.loadJSON(builtIndex, {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  searchOptions,
})
const found = (words: string): string[] => index.search(words).map(({ id }: SearchResult) => String(id))

describe('the search of the site', () => {
  test.each([
    ['ttl', /^\/docs\/options\.html/],
    ['tags', /^\/docs\/http\.html#writes-and-purges/],
    ['redis', /^\/docs\/redis\.html/],
    ['warm', /^\/docs\/operations\.html#warm-up/],
    ['ioredis', /^\/docs\/redis\.html/],
    ['stale', /^\/docs\/http\.html#stale-/],
    ['invalidate', /^\/docs\/faq\.html#how-do-i-invalidate/],
    ['cluster', /^\/docs\/redis-reference\.html/],
    ['cookie', /^\/docs\/http\.html#personal-reads/],
    ['authorization', /^\/docs\/http\.html/],
    ['compression', /^\/docs\/http\.html#the-order/],
    ['nestjs', /^\/docs\/getting-started\.html#nestjs/],
    ['fastify', /^\/docs\/getting-started\.html#fastify/],
    ['metrics', /^\/docs\/metrics\.html/],
    ['pause', /^\/docs\/(command-line|http|operations)\.html/],
    ['key', /^\/docs\/http\.html#what-is-one-entry/],
    ['vary', /^\/docs\/http-reference\.html#responses-that-vary/],
    ['etag', /^\/docs\/http-reference\.html#how-an-entry-is-served/],
    ['lock', /^\/docs\/faq\.html#is-this-a-distributed-lock/],
    ['jest', /^\/docs\/testing\.html/],
    ['purge', /^\/docs\/http\.html#writes-and-purges/],
    ['error', /^\/docs\/errors\.html/],
    ['createCache', /^\/docs\/options\.html#a-cache/],
    ['CATTLEGRID_PERSONAL_READ', /^\/docs\/(errors|http)\.html/],
  ])('finds first what a reader wants who types %s', (word, page) => {
    expect(found(word)[0]).toMatch(page)
  })

  test.each(['redis', 'metrics', 'createCache', 'hit', 'store'])(
    'shows API, benches and the changelog last: %s',
    (word) => {
      const last = /^\/(docs\/api|bench|CHANGELOG)/
      const places = found(word)
      const firstOfThose = places.findIndex((id) => last.test(id))
      expect(firstOfThose).not.toBe(0)
      expect(places.slice(0, 10).filter((id) => last.test(id))).toEqual([])
    },
  )

  test('sends words only to headings that exist', () => {
    const { documentIds } = JSON.parse(builtIndex) as { documentIds: Record<string, string> }
    const targets = searchOptions.boostDocument.toString().match(/\/docs\/[\w-]+\.html#[\w-]+/g) ?? []
    expect(targets.length).toBeGreaterThan(5)
    expect(targets.filter((id) => !Object.values(documentIds).includes(id))).toEqual([])
  })

  test('takes no short word for another: tag is no etag', () => {
    expect(found('tag').slice(0, 5).join(' ')).not.toContain('how-an-entry-is-served')
  })
})
