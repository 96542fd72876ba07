import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { beforeAll, describe, expect, it } from '@jest/globals'
import { type Files, runOn } from './house/broken-law.ts'

/** A file, what is in it, and the rule that it breaks. */
type Break = readonly [title: string, file: string, text: string, rule: string]

const engine = (name: string): string => `packages/core/src/${name}.ts`
const value = (text: string): string => `export const a = ${text}\n`
const lines = (count: number): string => 'console.log(1)\n'.repeat(count)

const suppressed = 'export const a = 1 as any'
const breaks: readonly Break[] = [
  ['a cycle of types', engine('cycle-a'), "export type { B as A } from './cycle-b.ts'\n", 'no-cycle'],
  ['the other end of it', engine('cycle-b'), "import type { A } from './cycle-a.ts'\nexport type B = A\n", 'no-cycle'],
  [
    'a type that names its module',
    engine('type'),
    "export type A = import('./entry.ts').A\n",
    'consistent-type-imports',
  ],
  ['a long file', engine('long'), lines(301), 'max-lines'],
  ['a long test', 'packages/core/test/long.test.ts', lines(301), 'max-lines'],
  ['a long script', 'scripts/long.mjs', lines(301), 'max-lines'],
  ['a long function', engine('function'), value(`() => {\n${'//\n'.repeat(49)}}`), 'max-lines-per-function'],
  ['any', engine('any'), 'export const a = (b: any) => b\n', 'no-explicit-any'],
  ['a cast to any', engine('cast'), 'export const a = 1 as any\n', 'no-explicit-any'],
  ['a silenced error', engine('ignored'), '// @ts-ignore\nexport const a = 1\n', 'ban-ts-comment'],
  ['an expected error', engine('expected'), '// @ts-expect-error why\nexport const a = 1\n', 'ban-ts-comment'],
  ['an unchecked file', engine('unchecked'), '// @ts-nocheck\nexport const a = 1\n', 'ban-ts-comment'],
  [
    'a silenced rule',
    engine('line'),
    `// oxlint-disable-next-line no-explicit-any\n${suppressed}\n`,
    'no-warning-comments',
  ],
  ['a file without rules', engine('all'), `/* oxlint-disable */\n${suppressed}\n`, 'no-abusive-eslint-disable'],
  [
    'a rule silenced in vain',
    'test/vain.ts',
    '// oxlint-disable-next-line eqeqeq\nexport const a = 1\n',
    'Unused oxlint-disable',
  ],
  ['a clock', engine('clock'), value('Date.now()'), 'no-restricted-properties'],
  ['a date of now', engine('date'), value('new Date()'), 'no-restricted-globals'],
  ['a timer', engine('timer'), 'setTimeout(() => {}, 1)\n', 'no-restricted-globals'],
  [
    'a timer of the global object',
    engine('global'),
    "globalThis['setTimeout'](() => {}, 1)\n",
    'no-restricted-globals',
  ],
  [
    'a timer under another name',
    engine('later'),
    "export { setTimeout as later } from 'node:timers/promises'\n",
    'no-restricted-imports',
  ],
  ['a timer that is imported late', engine('late'), "await import('node:timers')\n", 'no-restricted-imports'],
  [
    'a clock that is imported',
    engine('imported'),
    "export { performance } from 'node:perf_hooks'\n",
    'no-restricted-imports',
  ],
  ['the hidden timer of a signal', engine('signal'), value('AbortSignal.timeout(5)'), 'no-restricted-properties'],
  ['chance', engine('chance'), value('Math.random()'), 'no-restricted-properties'],
  ['chance under another name', engine('random'), 'export const { random } = Math\n', 'no-restricted-properties'],
  ['chance from crypto', engine('bytes'), "export { randomBytes } from 'node:crypto'\n", 'no-restricted-imports'],
  [
    'crypto as a whole',
    engine('crypto'),
    "import * as c from 'node:crypto'\nexport const a = c\n",
    'no-restricted-imports',
  ],
  ['the clock of the process', engine('process'), value('process.hrtime.bigint()'), 'no-restricted-properties'],
]

const fine: readonly (readonly [title: string, file: string, text: string])[] = [
  ['the word any in prose', engine('prose'), '// any caller\nexport const any = "any"\n'],
  ['clocks in comments and strings', engine('strings'), '// Date.now()\nexport const a = "Math.random() setTimeout"\n'],
  ['a key and a member of such a name', engine('members'), 'export const b = { performance: 1, setTimeout() {} }\n'],
  [
    'a date that is given',
    'packages/http/src/fields/http-date.ts',
    value('(ms: number) => [new Date(ms), Date.UTC(ms)]'),
  ],
  ['a hash', engine('hash'), "export { createHash, hash } from 'node:crypto'\n"],
  ['the owner of the clock', engine('runtime/runtime'), value('[Date.now(), Math.random(), performance.now()]')],
  ['a clock of the testkit', 'packages/testkit/src/a.ts', value('Date.now()')],
  ['a long contract', 'packages/testkit/src/contract.ts', value(`() => {\n${'//\n'.repeat(99)}}`)],
  [
    'an expected error of a test',
    'packages/core/test/a.test-d.ts',
    '// @ts-expect-error a number\nexport const a: string = 1\n',
  ],
]

describe('the linter', () => {
  let text = ''
  beforeAll(async () => {
    const files: Files = {
      ...Object.fromEntries([...breaks, ...fine].map(([, file, content]) => [file, content])),
      '.oxlintrc.json': readFileSync(resolve(__dirname, '../.oxlintrc.json'), 'utf8'),
    }
    ;({ text } = await runOn(files, 'node_modules/oxlint/bin/oxlint', '--format', 'unix'))
  })
  const saidOf = (file: string): readonly string[] => text.split('\n').filter((line) => line.startsWith(`${file}:`))

  it.each(breaks)('reports %s', (_, file, __, rule) => {
    expect(saidOf(file)).toContainEqual(expect.stringContaining(rule))
  })
  it.each(fine)('lets %s pass', (_, file) => {
    expect(saidOf(file)).toEqual([])
  })
})
