import { core, holds, manifest } from './house/broken-law.ts'

holds('layers', [
  [
    'an engine that names a store',
    core('refresh.ts', "import type { M } from './store/memory-store.ts'\n"),
    'packages/core/src/lookup/lookup-run.ts:1',
    'of stores',
  ],
  [
    'a cache that names a policy in a type',
    core('cache.ts', "\nexport type A = import('./policy/freshness.ts').A\n"),
    'packages/core/src/cache/cache.ts:2',
    'of policies',
  ],
  [
    'a leaf that looks up',
    core('entry.ts', "export * from './flight.ts'\n"),
    'packages/core/src/entry.ts:1',
    'of engine',
  ],
  [
    'a store that looks at a policy',
    core('store/near-store.ts', "import('../policy/freshness.ts')\n"),
    'packages/core/src/store/remote/near-store.ts:1',
    'of policies',
  ],
  [
    'a lease that looks at a store',
    core('lease/keep-alive.ts', "import '../store/memory-store.ts'\n"),
    'packages/core/src/refresh/keep-alive.ts:1',
    'of stores',
  ],
])

holds(
  'borders',
  [
    [
      'a core that knows http',
      { ...core('cache.ts', "import '@cattlegrid/http'\n") },
      'packages/core/src/cache/cache.ts:1',
      'core may import no package of ours',
    ],
    [
      'a way round the front door',
      { 'packages/http/src/a.ts': "import '../../core/src/entry.ts'\n" },
      'packages/http/src/a.ts:1',
      'leaves packages/http',
    ],
    [
      'a deep import',
      { 'packages/http/src/a.ts': "import '@cattlegrid/core/dist/esm/entry.js'\n" },
      'packages/http/src/a.ts:1',
      'not in that package',
    ],
    [
      'an undeclared package',
      { 'packages/http/package.json': manifest('http') },
      'packages/http/src/index.ts:1',
      'declare @cattlegrid/core',
    ],
    [
      'an example that reaches into a package',
      { 'examples/a/package.json': '{}', 'examples/a/src/a.ts': "import '../../../packages/core/src/index.ts'\n" },
      'examples/a/src/a.ts:1',
      'leaves examples/a',
    ],
  ],
  [
    [
      'the word import in a comment or a string',
      core('cache.ts', "// import '@cattlegrid/http'\nexport const a = \"import '@cattlegrid/http'\"\n"),
    ],
  ],
)

holds('cycles', [
  [
    'a cycle of types',
    core('entry.ts', "import type { Store } from './store/store.ts'\nexport type Entry = Store\n"),
    'packages/core/src/entry.ts:1',
    'store.ts → ',
  ],
  [
    'a cycle between packages',
    core('entry.ts', "export type E = import('@cattlegrid/http').Entry\n"),
    'packages/core/src/index.ts:1',
    'import cycle',
  ],
  [
    'a file that imports itself',
    core('entry.ts', "import type {} from './entry.ts'\n"),
    'packages/core/src/entry.ts:1',
    'import cycle',
  ],
])

holds('names', [
  ['a drawer', core('utils.ts', ''), 'packages/core/src/utils.ts:1', 'a drawer'],
  ['a drawer as a folder', core('helpers/time.ts', ''), 'packages/core/src/helpers/time.ts:1', 'a drawer'],
  ['a drawer in a test', { 'packages/core/test/types.ts': '' }, 'packages/core/test/types.ts:1', 'a drawer'],
])

holds('sizes', [
  ['a long file', core('cache.ts', '//\n'.repeat(301)), 'packages/core/src/cache/cache.ts:301', '301 lines'],
  [
    'a long function',
    core('cache.ts', `export const a = () => {\n${'//\n'.repeat(49)}}\n`),
    'packages/core/src/cache/cache.ts:1',
    'a function of 51 lines',
  ],
  [
    'a long test',
    { 'packages/core/test/a.test.ts': '//\n'.repeat(301) },
    'packages/core/test/a.test.ts:301',
    '301 lines',
  ],
])

holds(
  'words',
  [
    [
      'a path of somebody',
      { 'docs/a.md': `see ${['', 'home', 'me', 'a.txt'].join('/')}\n` },
      'docs/a.md:1',
      'a path of one machine',
    ],
  ],
  [['a path of a site', { 'docs/a.md': `see https://example.org${['', 'home', 'me'].join('/')}\n` }]],
)

holds(
  'maps',
  [
    [
      'a tree that names what is gone',
      { 'docs/a.md': '```\npackages/\n  core/\n    src/\n      gone.ts  it was here\n```\n' },
      'docs/a.md:5',
      'packages/core/src/gone.ts',
    ],
    ['a boxed tree', { 'docs/a.md': '```text\n├── packages/\n│   └── gone/\n```\n' }, 'docs/a.md:3', 'packages/gone'],
    ['a dead link', { 'docs/a.md': 'see [it](../gone.md#part)\n' }, 'docs/a.md:1', '../gone.md'],
    ['a command that is not there', { 'docs/a.md': 'run `npm run gone`\n' }, 'docs/a.md:1', 'npm run gone'],
  ],
  [['links to other sites and inside the page', { 'docs/a.md': '[a](https://example.org) [b](#part)\n' }]],
)
