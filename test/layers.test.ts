import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { type Files, runOn } from './house/broken-law.ts'

const core = 'packages/core/src'
const redis = 'packages/redis/src'
const http = 'packages/http/src'

/** A tree with a file of each layer, and a package that is built. */
const tree: Files = {
  ...Object.fromEntries(
    ['index', 'cache/create-cache', 'cache/cache', 'batch/batch', 'lookup/lookup', 'claim/lead', 'flight/flight']
      .concat(['options/options', 'store/store', 'store/near-store', 'policy/policy', 'policy/freshness', 'entry'])
      .map((name) => [`${core}/${name}.ts`, 'export interface A { a: 1 }\n']),
  ),
  ...Object.fromEntries(
    ['redis-store', 'leases/lease-steps', 'leases/lease-value', 'entries/read-entry', 'entries/record']
      .concat(['lua/scripts', 'notices/notices', 'notices/sharded/sharded-notices', 'link/link', 'redis-keys'])
      .map((name) => [`${redis}/${name}.ts`, 'export interface A { a: 1 }\n']),
  ),
  [`${http}/road/response-loader.ts`]: 'export interface A { a: 1 }\n',
  [`${http}/route/route.ts`]: 'export interface A { a: 1 }\n',
  'packages/http/dist/esm/index.js': 'export const a = 1\n',
  '.dependency-cruiser.mjs': readFileSync(resolve(__dirname, '../.dependency-cruiser.mjs'), 'utf8'),
}

/** A file that imports another, and the rule that this breaks, if any. */
type Import = readonly [title: string, from: string, to: string, rule?: string]

const imports: readonly Import[] = [
  ['the entrance names a store', `${core}/index.ts`, './store/near-store.ts'],
  [
    'the factory names the entrance',
    `${core}/cache/create-cache.ts`,
    '../index.ts',
    'core-create-cache-imports-downward',
  ],
  ['a cache names a policy', `${core}/cache/a.ts`, '../policy/freshness.ts', 'core-engine-names-no-implementation'],
  ['a cache looks up', `${core}/cache/b.ts`, '../lookup/lookup.ts'],
  ['a batch knows the cache', `${core}/batch/a.ts`, '../cache/cache.ts', 'core-batch-imports-downward'],
  ['a lookup knows batches', `${core}/lookup/a.ts`, '../batch/batch.ts', 'core-lookup-imports-downward'],
  ['a claim looks up', `${core}/claim/a.ts`, '../lookup/lookup.ts', 'core-claim-imports-downward'],
  ['a claim names a store', `${core}/claim/b.ts`, '../store/near-store.ts', 'core-engine-names-no-implementation'],
  ['a claim knows flights and the interface of a store', `${core}/claim/c.ts`, '../flight/flight.ts'],
  ['a flight claims', `${core}/flight/a.ts`, '../claim/lead.ts', 'core-flight-imports-downward'],
  ['options know flights', `${core}/options/a.ts`, '../flight/flight.ts', 'core-options-imports-downward'],
  ['an interface knows options', `${core}/store/store.ts`, '../options/options.ts', 'core-interfaces-imports-downward'],
  ['a store looks at a policy', `${core}/store/a.ts`, '../policy/freshness.ts', 'core-store-names-no-policy'],
  ['a store knows flights', `${core}/store/remote/b.ts`, '../../flight/flight.ts', 'core-store-imports-downward'],
  ['a store knows its interface', `${core}/store/c.ts`, './store.ts'],
  ['a policy knows a store', `${core}/policy/a.ts`, '../store/near-store.ts', 'core-policy-imports-downward'],
  ['a leaf knows an interface', `${core}/a.ts`, './store/store.ts', 'core-leaf-imports-leaves'],
  ['a leaf knows a leaf', `${core}/b.ts`, './entry.ts'],
  ['core knows HTTP', `${core}/c.ts`, '@cattlegrid/http', 'core-imports-no-other-package'],
  ['core knows who explains it', `${core}/e.ts`, '@cattlegrid/explain', 'core-imports-no-other-package'],
  ['what explains a cache knows Redis', 'packages/explain/src/a.ts', '@cattlegrid/redis', 'explain-imports-core'],
  ['core knows the build of HTTP', `${core}/d.ts`, '../../http/dist/esm/index.js', 'core-imports-no-other-package'],
  [
    'a rule for responses knows the road',
    `${http}/response/a.ts`,
    '../road/response-loader.ts',
    'http-response-imports-downward',
  ],
  ['a route knows the road', `${http}/route/a.ts`, '../road/response-loader.ts', 'http-route-imports-downward'],
  ['the road knows its route', `${http}/road/a.ts`, '../route/route.ts'],
  ['a lease knows its store', `${redis}/leases/a.ts`, '../redis-store.ts', 'redis-leases-imports-downward'],
  ['a lease knows entries', `${redis}/leases/b.ts`, '../entries/read-entry.ts'],
  ['entries know leases', `${redis}/entries/a.ts`, '../leases/lease-steps.ts', 'redis-entries-imports-downward'],
  ['tags know entries', `${redis}/tags/a.ts`, '../entries/read-entry.ts', 'redis-tags-imports-downward'],
  ['tags know the record of an entry', `${redis}/tags/b.ts`, '../entries/record.ts'],
  ['scripts know how entries are read', `${redis}/lua/a.ts`, '../entries/read-entry.ts', 'redis-lua-imports-downward'],
  ['scripts know the value of a lease', `${redis}/lua/b.ts`, '../leases/lease-value.ts'],
  ['notices know scripts', `${redis}/notices/a.ts`, '../lua/scripts.ts', 'redis-notices-imports-downward'],
  ['a link knows notices', `${redis}/link/a.ts`, '../notices/notices.ts', 'redis-link-imports-downward'],
  ['a format knows the link', `${redis}/entries/record.ts`, '../link/link.ts', 'redis-formats-imports-downward'],
  ['the names of keys know a format', `${redis}/b.ts`, './entries/record.ts', 'redis-leaf-imports-leaves'],
  [
    'a store knows sharded notices',
    `${redis}/redis-store.ts`,
    './notices/sharded/sharded-notices.ts',
    'redis-sharded-notices-stay-behind-their-interface',
  ],
  ['the interface of notices knows sharded ones', `${redis}/notices/notices.ts`, './sharded/sharded-notices.ts'],
  ['a store knows HTTP', 'packages/redis/src/a.ts', '@cattlegrid/http', 'redis-imports-core'],
  ['the command line shows what HTTP stores', 'packages/cli/src/a.ts', '@cattlegrid/http'],
  [
    'the command line knows Express',
    'packages/cli/src/b.ts',
    '@cattlegrid/express',
    'cli-imports-core-and-explain-and-redis-and-http',
  ],
  ['HTTP knows core', 'packages/http/src/a.ts', '@cattlegrid/core'],
  ['HTTP reaches into core', 'packages/http/src/b.ts', '../../core/src/entry.ts', 'published-names-only'],
  [
    'an example reaches into core',
    'examples/a/src/a.ts',
    '../../../packages/core/src/index.ts',
    'published-names-only',
  ],
  ['an example uses published names', 'examples/a/src/b.ts', '@cattlegrid/core'],
]

describe('the layers', () => {
  let text = ''
  beforeAll(async () => {
    const sources = imports.map(([, from, to]) => [from, `import type { A } from '${to}'\nexport type B = A\n`])
    const program = 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs'
    ;({ text } = await runOn({ ...tree, ...Object.fromEntries(sources) }, program, 'packages', 'examples'))
  })
  const brokenBy = (from: string): readonly (string | undefined)[] =>
    [...text.matchAll(/error ([\w-]+): (\S+) →/g)].filter(([, , file]) => file === from).map(([, rule]) => rule)

  it.each(imports.filter(([, , , rule]) => rule !== undefined))('do not allow that %s', (_, from, __, rule) => {
    expect(brokenBy(from)).toEqual([rule])
  })
  it.each(imports.filter(([, , , rule]) => rule === undefined))('allow that %s', (_, from) => {
    expect(brokenBy(from)).toEqual([])
  })
})
