import { core, holds, reads } from './house/broken-law.ts'

holds(
  'runtime',
  [
    reads('a clock', 'export const a = Date.now()', 'Date.now'),
    reads('a date of now', 'export const a = new Date()', 'Date'),
    reads('a timer', 'setTimeout(() => {}, 1)', 'setTimeout'),
    reads('a timer of the global object', "globalThis['setTimeout'](() => {}, 1)", 'globalThis.setTimeout'),
    reads('a timer pulled out of the global object', 'const { setTimeout: later } = globalThis', 'globalThis, which'),
    reads(
      'a timer under another name',
      "import { setTimeout as later } from 'node:timers/promises'",
      'setTimeout from node:timers/promises',
    ),
    reads('a timer that is imported late', "await import('timers')", '* from timers'),
    reads(
      'a clock that is imported',
      "import { performance as p } from 'node:perf_hooks'",
      'performance from node:perf_hooks',
    ),
    reads('the hidden timer of a signal', 'AbortSignal.timeout(5)', 'AbortSignal.timeout'),
    reads('chance', 'export const a = Math.random()', 'Math.random'),
    reads('chance under another name', 'const { random } = Math', 'Math, which'),
    reads(
      'chance from crypto',
      "import { createHash, randomBytes } from 'node:crypto'",
      'randomBytes from node:crypto',
    ),
    reads('crypto as a whole', "import * as c from 'crypto'", '* from crypto'),
    reads('the clock of the process', 'process.hrtime.bigint()', 'process.hrtime'),
  ],
  [
    ['comments and strings', core('cache.ts', '// Date.now()\nexport const a = "Math.random() setTimeout"\n')],
    [
      'a type, a key and a member of the same name',
      core(
        'cache.ts',
        'export const a = (r: { setTimeout: typeof setTimeout; at: Date }) => r.setTimeout\nexport const b = { performance: 1 }\n',
      ),
    ],
    [
      'a date that is given',
      core('cache.ts', 'export const a = (ms: number) => [new Date(ms), Date.parse("x"), Math.min(ms)]\n'),
    ],
    ['a hash', core('cache.ts', "import { createHash } from 'node:crypto'\nexport const a = createHash\n")],
    ['a microtask', core('cache.ts', 'queueMicrotask(() => {})\n')],
    ['the testkit', { 'packages/testkit/src/a.ts': 'export const a = Date.now()\n' }],
  ],
)

holds(
  'escapes',
  [
    reads('any', 'export const a = (b: any) => b', '`any`'),
    reads('a cast to any', 'export const a = 1 as any', '`any`'),
    reads('a silenced line', '// @ts-ignore', '@ts-ignore'),
    reads('a silenced file', '/* @ts-nocheck */', '@ts-nocheck'),
    reads('a silenced linter', '// oxlint-disable-next-line no-console', 'oxlint-disable'),
  ],
  [['the word any in prose', core('cache.ts', '// any caller\nexport const any = "any"\n')]],
)
