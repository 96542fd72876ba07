import { core, holds, lua, type Files } from './house/broken-law.ts'

const put = (changes: Parameters<typeof lua>[0]): Files => ({ 'packages/redis/src/lua/put.lua': lua(changes) })
const putFault = 'packages/redis/src/lua/put.lua:1'

holds(
  'lua',
  [
    ['a script without a sentence', put({ sentence: '--' }), putFault, 'first sentence'],
    ['a script that hides its answer', put({ returns: '--' }), putFault, 'Returns'],
    [
      'a slot that is named and not used',
      put({ slots: '--  KEYS[1] entry  ARGV[1] body  ARGV[2] token' }),
      putFault,
      'names ARGV[2]',
    ],
    [
      'a slot that only a comment uses',
      put({ body: "return redis.call('GET', KEYS[1]) -- ARGV[1]" }),
      putFault,
      'names ARGV[1]',
    ],
    ['a slot without a word', put({ slots: '--  KEYS[1]  ARGV[1] body' }), putFault, 'uses KEYS[1]'],
    [
      'a rest that is not looped over',
      put({ slots: '--  KEYS[1] entry  ARGV[1...] tags' }),
      putFault,
      'names ARGV[1...]',
    ],
    ['a long body', put({ body: `${'local a = KEYS[1]\n'.repeat(40)}return ARGV[1]` }), putFault, '41 lines'],
    [
      'a generated file that is behind',
      put({ body: 'return KEYS[1] .. ARGV[1]' }),
      'packages/redis/src/lua/sources.generated.ts:1',
      'out of date',
    ],
  ],
  [
    [
      'comments that change nothing in what Redis gets',
      put({
        sentence: '-- Write one, in other\n-- words.',
        body: "\n  -- why\nreturn redis.call('SET', KEYS[1], ARGV[1])",
      }),
    ],
  ],
)

const options = (text: string): Files => core('options/options.ts', text)
const optionsAt = 'packages/core/src/options/options.ts'
const tableAt = 'packages/core/test/options-table.ts:1'

holds(
  'options',
  [
    [
      'an option without a row',
      options('export interface CacheOptions {\n  /** A. */\n  ttl?: number\n  /** B. */\n  near?: number\n}\n'),
      tableAt,
      'no row for CacheOptions.near',
    ],
    ['a row without an option', options('export interface CacheOptions {}\n'), tableAt, 'a row for CacheOptions.ttl'],
    [
      'an option without a comment',
      options('export interface CacheOptions {\n  // fresh for\n  ttl?: number\n}\n'),
      `${optionsAt}:3`,
      'no doc comment',
    ],
    [
      'an inherited option without a row',
      options(
        "import type { Windows } from './entry.ts'\nexport interface CacheOptions extends Omit<Windows, 'stale'> {}\n",
      ),
      tableAt,
      'a row for CacheOptions.ttl',
    ],
    [
      'an inherited option of another file without a row',
      {
        ...core(
          'windows.ts',
          'export interface Windows {\n  /** A. */\n  ttl?: number\n  /** B. */\n  stale?: number\n}\n',
        ),
        ...options('export type CacheOptions = Windows\n'),
      },
      tableAt,
      'no row for CacheOptions.stale',
    ],
    [
      'an inline object',
      options('export interface CacheOptions {\n  /** A. */\n  ttl?: { min: number }\n}\n'),
      `${optionsAt}:3`,
      'inline object',
    ],
    [
      'an option of another file without a row',
      core('store/memory/options.ts', 'export interface MemoryStoreOptions {\n  /** A. */\n  max?: number\n}\n'),
      tableAt,
      'no row for MemoryStoreOptions.max',
    ],
    [
      'a missing table',
      { 'packages/http/src/route/options.ts': 'export interface AppOptions {}\n' },
      'packages/http/test/options-table.ts:1',
      'missing',
    ],
    [
      'a table that cannot be read',
      { 'packages/core/test/options-table.ts': "import 'jest'\n" },
      tableAt,
      'cannot be read',
    ],
  ],
  [
    [
      'Pick of what has rows',
      {
        ...core('windows.ts', 'export interface Windows {\n  /** A. */\n  ttl?: number\n  stale?: number\n}\n'),
        ...options("export interface CacheOptions extends Pick<Windows, 'ttl'> {}\n"),
      },
    ],
    [
      'the arguments of a function',
      options('export interface CacheOptions {\n  /** A. */\n  ttl?: (of: { a: 1 }) => number\n}\n'),
    ],
  ],
)
