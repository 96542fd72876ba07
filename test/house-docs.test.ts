import { core, guardTable, holds, optionsPage } from './house/broken-law.ts'

const events = core(
  'events/cache-events.ts',
  'export interface CacheEvents {\n  /** It was there. */\n  hit: { age: number }\n}\n',
)

holds(
  'docs',
  [
    [
      'a table that is behind its docstring',
      core(
        'options.ts',
        'export interface CacheOptions {\n  /** Fresh for so long. Default: 1. */\n  ttl?: number\n}\n',
      ),
      'docs/options.md:5',
      'npm run docs',
    ],
    [
      'a table that was written by hand',
      { 'docs/options.md': optionsPage('| `ttl`  | number | 5       | How long a value is fresh. |') },
      'docs/options.md:7',
      'npm run docs',
    ],
    [
      'a table of an interface that is gone',
      core('options.ts', 'export interface CallOptions {}\n'),
      'docs/options.md:1',
      'the sources do not have',
    ],
    [
      'an options interface that no page shows',
      core('load.ts', '\nexport interface KeepOptions {\n  /** A. */\n  ttl?: number\n}\n'),
      'packages/core/src/load.ts:2',
      'no page of docs/ has a region <!-- generated: options KeepOptions -->',
    ],
    [
      'a rule that the table of guards words differently',
      { 'scripts/guards/table.txt': guardTable().replace('One wins', 'One may win') },
      'docs/protocol.md:3',
      'npm run docs',
    ],
    [
      'code of a function that is gone',
      {
        'docs/adapter.md': '<!-- generated: code gone -->\n<!-- /generated -->\n',
        'examples/koa-adapter/src/koa-cache.ts': 'export function send(): void {\n  return\n}\n',
      },
      'docs/adapter.md:1',
      'has no function gone',
    ],
    [
      'events that no page shows',
      events,
      'packages/core/src/events/cache-events.ts:1',
      'generated: events CacheEvents',
    ],
    [
      'a number of an event without a unit',
      {
        ...core(
          'events/cache-events.ts',
          'export interface CacheEvents {\n  /** A. */\n  hit: { weight: number }\n}\n',
        ),
        'docs/events.md': '<!-- generated: events CacheEvents -->\n<!-- /generated -->\n',
      },
      'docs/events.md:1',
      'no unit for the field weight',
    ],
    [
      'an error code without a heading',
      core('errors.ts', "export type ErrorCode =\n  | 'CATTLEGRID_CLOSED'\n  | 'CATTLEGRID_LOST'\n"),
      'packages/core/src/errors.ts:3',
      'no heading CATTLEGRID_LOST',
    ],
    [
      'an error code of another package without a heading',
      { 'packages/http/src/response/errors.ts': "export const code = 'CATTLEGRID_LATE'\n" },
      'packages/http/src/response/errors.ts:1',
      'no heading CATTLEGRID_LATE',
    ],
    [
      'a heading of a code that is gone',
      { 'docs/errors.md': '## `CATTLEGRID_CLOSED`\n\n## `CATTLEGRID_GONE`\n' },
      'docs/errors.md:3',
      'no code of any errors.ts',
    ],
  ],
  [
    ['an interface that is no option', core('load.ts', 'export interface Load {\n  key: string\n}\n')],
    [
      'events with their table',
      {
        ...events,
        'docs/events.md':
          '<!-- generated: events CacheEvents -->\n\n| Event | Fields     | When          |\n| ----- | ---------- | ------------- |\n| `hit` | `age` (ms) | It was there. |\n\n<!-- /generated -->\n',
      },
    ],
  ],
)
