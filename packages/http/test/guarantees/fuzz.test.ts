import { cpuUsage } from 'node:process'
import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { anyText, cases } from '../../../../test/support/properties.ts'
import { initialAge } from '../../src/response/age.ts'
import { parseCacheControl } from '../../src/fields/cache-control.ts'
import { requestDirectivesOf } from '../../src/request/request-directives.ts'
import { notModified } from '../../src/response/conditional.ts'
import { originForm } from '../../src/request/eligible.ts'
import { parseHttpDate } from '../../src/fields/http-date.ts'
import { reduceEncoding, selectingValue } from '../../src/fields/selecting-value.ts'
import { withQuery } from '../../src/request/query.ts'
import { selectRange } from '../../src/response/range.ts'
import { cookiesOf, requestKey } from '../../src/request/request-key.ts'
import { tagsIn } from '../../src/response/tags.ts'
import { effectiveDirectives } from '../../src/fields/targeted-fields.ts'
import { mergeVary, varyNames } from '../../src/response/vary.ts'

const NOW = Date.UTC(2030, 0, 15, 12)
const only = { kind: 'only', names: new Set(['a']) } as const
const parts = { scheme: 'http', host: 'a', place: '', decodesPath: true }
const matched = { pattern: '/:id', base: '', params: { id: 'x' } }

/** Everything that reads a field or a target of somebody else's. */
const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  'Cache-Control': (text) => parseCacheControl([text]),
  'a targeted field': (text) => effectiveDirectives({ 'cdn-cache-control': text }, ['cdn-cache-control']),
  'Cache-Control of a request': (text) => requestDirectivesOf({ 'cache-control': text, pragma: text }),
  'a date': (text) => parseHttpDate(text, NOW),
  Age: (text) => initialAge({ age: text, date: text }, NOW),
  Vary: (text) => [varyNames({ vary: text }), mergeVary(text, text)],
  'a field that chooses': (text) => selectingValue('accept-language', { 'accept-language': text }),
  'Accept-Encoding': (text) => reduceEncoding(text),
  Range: (text) => selectRange({ range: text, ifRange: text }, { etag: '"a"', 'last-modified': text, date: text }, 10),
  'If-None-Match': (text) =>
    notModified({ ifNoneMatch: text, ifModifiedSince: text }, 200, {
      etag: '"a"',
      date: 'Tue, 15 Jan 2030 12:00:00 GMT',
    }),
  Cookie: (text) => cookiesOf(text),
  'Surrogate-Key': (text) => tagsIn({ 'surrogate-key': text }, 'surrogate-key'),
  'a target': (text) => [originForm(text), withQuery(text, only), requestKey({ ...parts, matched, target: text })],
}
const readers = Object.entries(READERS)

/** Texts of the characters that parsers stumble over. */
const awkward = fc.oneof(
  anyText({ maxLength: 60 }),
  fc.stringMatching(/^[ \t,;="'\\()?:*a-c0-9._%+&[\]/#-]{0,60}$/),
  fc
    .array(
      fc.constantFrom(
        'max-age',
        '=',
        '60',
        ',',
        ';',
        ' ',
        '"',
        '\\',
        'private',
        'W/"a"',
        'q',
        '0',
        '%',
        '%2',
        '%ff',
        '[',
      ),
      { maxLength: 30 },
    )
    .map((words) => words.join('')),
)

/** Texts that make a parser with a fault go over what it has read again and again. */
const WORST: readonly ((length: number) => string)[] = [
  (length) => ','.repeat(length),
  (length) => ' '.repeat(length),
  (length) => '"'.repeat(length),
  (length) => '\\'.repeat(length),
  (length) => `a="${'\\"'.repeat(length / 2)}`,
  (length) => `"${',"'.repeat(length / 2)}`,
  (length) => 'a,'.repeat(length / 2),
  (length) => 'a=1, '.repeat(length / 5),
  (length) => 'a;'.repeat(length / 2),
  (length) => `a=(${'1 '.repeat(length / 2)}`,
  (length) => `a${' ;'.repeat(length / 2)}`,
  (length) => `/?${'a[=&'.repeat(length / 4)}`,
  (length) => '%61'.repeat(length / 3),
  (length) => `bytes=${'0'.repeat(length)}-`,
  (length) => `${'/'.repeat(length)}#`,
]

describe('what somebody else wrote', () => {
  test.each(readers)('%s: whatever stands there, it is read without an error', (_, read) => {
    fc.assert(
      fc.property(awkward, (text) => void read(text)),
      { numRuns: cases(8000) },
    )
  })

  test.each(readers)(
    '%s: eight times the length takes no more than twenty-seven times as long, in the worst case',
    (_, read) => {
      for (const worst of WORST) {
        const [short, long] = [worst(5000), worst(40_000)]
        const grows = (): boolean => {
          // At least 1 ms: below that the collector of garbage decides. A parser with a fault needs far more for the long text.
          const base = Math.max(
            1,
            leastCpu(() => read(short)),
          )
          return leastCpu(() => read(long)) > 3 ** 3 * base
        }
        // Of a parser with a fault it is 64 times as long, however often it is measured.
        expect([worst.toString(), grows() && grows() && grows() && grows() && grows()]).toEqual([
          worst.toString(),
          false,
        ])
      }
    },
  )
})

/** The least CPU time of several calls, ms: a busy machine makes a call wait, and its CPU time hardly longer. */
function leastCpu(act: () => unknown): number {
  const times = Array.from({ length: 7 }, () => {
    const before = cpuUsage()
    act()
    const { user, system } = cpuUsage(before)
    return (user + system) / 1000
  })
  return Math.min(...times)
}
