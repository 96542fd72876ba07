import { describe, expect, test } from '@jest/globals'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import * as fc from 'fast-check'
import { type Ask, ask } from '../attacks/raw-client.ts'
import { closed, portOf } from '../attacks/stage.ts'
import { cases } from '../support/properties.ts'
import { ECHO_APPS, type EchoApp, PATHS } from './echo-apps.ts'

// Two requests that get one stored response are requests whose handlers would have seen the same: each response is compared with the one that the
// same request gets as the leader of an empty cache.

const NAMED =
  'page=1 page=2 PAGE=3 Page=1 by=a by=b utm=x x=1;page=5 page=1;by=b page[]=6 [page]=7 page.x=8 p%61ge=2 page=%32 page=+ page=%20'
const ODD = 'page x page_size=8 size=7 size=x __proto__=1 %5bpage%5D=1 ?page=2 a[b]=1 page=1%26by=b #page=9 %'
const PARAMETERS = [...NAMED.split(' '), ...ODD.split(' '), '', 'x&'.repeat(1000)]
const IDS = ['a', 'A', '%61', 'a;x', 'a%3Bx', 'a%3bx', 'a/', 'a%2Fb']
/** Of one family are values that something may take for one another. */
const FIELDS: readonly (readonly (readonly [string, string])[])[] = [
  [
    ['X-K', '1'],
    ['X-K', '2'],
    ['X-K', '1,2'],
    ['x-k', '1, 2'],
    ['X-K', ''],
    ['Connection', 'x-k'],
  ],
  [
    ['Cookie', 'c=1'],
    ['Cookie', 'c=1; c=2'],
    ['Cookie', 'c=2; c=1'],
    ['Cookie', 'c =1'],
  ],
  [
    ['Accept-Language', 'de-DE'],
    ['Accept-Language', 'de-de'],
    ['Accept-Language', 'de-DE, en'],
    ['Accept-Language', 'de-DE,en'],
  ],
  [
    ['Host', 'SHOP.example:80'],
    ['Host', 'shop.example'],
    ['X-Forwarded-Host', 'evil.example'],
  ],
]

/** Requests of one route that are much alike, so that many of them share an entry. */
const requests: fc.Arbitrary<readonly Ask[]> = fc
  .record({
    path: fc.constantFrom(...PATHS),
    parameters: fc.subarray(PARAMETERS, { minLength: 2, maxLength: 5 }),
    ids: fc.subarray(IDS, { minLength: 1, maxLength: 3 }),
    family: fc.constantFrom(...FIELDS),
  })
  .chain(({ path, parameters, ids, family }) => {
    const query = fc.oneof(
      { weight: 1, arbitrary: fc.constantFrom('', '?', '#page=9', ';page=2') },
      {
        weight: 4,
        arbitrary: fc
          .array(fc.constantFrom(...parameters), { minLength: 1, maxLength: 3 })
          .map((list) => `?${list.join('&')}`),
      },
    )
    const target = fc
      .tuple(fc.boolean(), fc.constantFrom(...ids), query)
      .map(([isUpper, id, text]) => `${isUpper ? path.toUpperCase() : path}/${id}${text}`)
    const fields = fc.array(fc.constantFrom(...family), { maxLength: 2 })
    return fc.array(fc.record({ target, fields }), { minLength: 10, maxLength: 40 })
  })

/** Differences between what a request got and what its own handler would have made, as the leader of an empty cache. */
async function crossed(app: EchoApp, list: readonly Ask[]): Promise<readonly string[]> {
  const runtime = createManualRuntime()
  const [shared, own] = [0, 1].map(() => createCache({ runtime, store: memoryStore({ runtime }) }))
  if (shared === undefined || own === undefined) throw new Error('no caches')
  const [server, alone] = [await app(shared), await app(own)]
  const found: string[] = []
  try {
    for (const one of list) {
      const got = await ask(portOf(server), one)
      if (!/; (?:hit|collapsed)/.test(got.fields['cache-status']?.[0] ?? '')) continue
      await own.clear()
      const made = await ask(portOf(alone), one)
      // Its own handler may not make a page for others: it gets what is stored.
      if (/fwd=bypass|detail=(?:repeated-field|connection)/.test(made.fields['cache-status']?.[0] ?? '')) continue
      if (got.body !== made.body)
        found.push(`${one.target} ${JSON.stringify(one.fields)}: ${got.body} for ${made.body}`)
    }
  } finally {
    await Promise.all([closed(server), closed(alone)])
    const ends = [shared, own].map((cache) => cache.close({ drain: 1 }))
    await runtime.advance(1000)
    await Promise.all(ends)
  }
  return found
}

describe.each(ECHO_APPS)('random requests on %s', (_, app) => {
  test('get no stored response of a handler that saw other input than their own would have seen', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (list) => {
        expect(await crossed(app, list)).toEqual([])
      }),
      { numRuns: cases(6), plugins: [fc.interruptAfterTimeLimit(3000)] },
    )
  })
})
