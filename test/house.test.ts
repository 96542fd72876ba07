import { core, holds } from './house/broken-law.ts'

holds('names', [
  ['a drawer', core('utils.ts', ''), 'packages/core/src/utils.ts:1', 'a drawer'],
  ['a drawer as a folder', core('helpers/time.ts', ''), 'packages/core/src/helpers/time.ts:1', 'a drawer'],
  ['a drawer in a test', { 'packages/core/test/types.ts': '' }, 'packages/core/test/types.ts:1', 'a drawer'],
])

holds(
  'tests',
  [
    [
      'a folder that src/ does not have',
      { 'packages/core/test/drawer/a.test.ts': '' },
      'packages/core/test/drawer/a.test.ts:1',
      'packages/core/src has no folder drawer',
    ],
    [
      'a test beside the folders',
      { 'packages/core/test/a.test.ts': '' },
      'packages/core/test/a.test.ts:1',
      'packages/core/src has no file a:',
    ],
    ['set-up among the tests', { 'packages/core/test/fleet.ts': '' }, 'packages/core/test/fleet.ts:1', 'test/support'],
  ],
  [
    ['a test in the folder of its subject', { 'packages/core/test/store/a.int.test.ts': '' }],
    [
      'a guarantee, and what tests share',
      { 'packages/core/test/guarantees/a.test.ts': '', 'packages/core/test/support/b.ts': '' },
    ],
    ['any test of a package without folders', { 'packages/cli/src/a.ts': '', 'packages/cli/test/b.test.ts': '' }],
  ],
)

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

const wide = 'a comment that says more than a reader takes in at one look, '.repeat(2)

holds(
  'comments',
  [
    [
      'a wide line of a comment',
      { 'packages/core/src/a.ts': `/**\n * ${wide}\n */\n` },
      'packages/core/src/a.ts:2',
      'at most 110',
    ],
    [
      'a wide comment in one line',
      { 'packages/core/src/a.ts': `  // ${wide}\n` },
      'packages/core/src/a.ts:1',
      'at most 110',
    ],
  ],
  [
    ['the code of an example', { 'packages/core/src/a.ts': `/**\n * const text = '${wide}'\n */\n` }],
    ['a row of a table', { 'packages/core/src/a.ts': `// 1 A reads      2 ${wide}\n` }],
  ],
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
    [
      'a link to a heading that is gone',
      { 'docs/a.md': '# Here\n\nsee [it](b.md#there)\n', 'docs/b.md': '# Here\n' },
      'docs/a.md:3',
      'b.md#there, which no heading has',
    ],
    ['a fragment that is gone', { 'docs/a.md': '# Here\n\n[it](#there)\n' }, 'docs/a.md:3', '#there'],
    ['a command that is not there', { 'docs/a.md': 'run `npm run gone`\n' }, 'docs/a.md:1', 'npm run gone'],
    [
      'a command behind a script that does not offer it',
      { 'package.json': '{ "scripts": { "build": "", "test": "" } }', 'docs/a.md': 'run `npm test -- gone`\n' },
      'docs/a.md:1',
      'npm run test -- gone',
    ],
  ],
  [
    [
      'links to other sites and to headings',
      {
        'docs/a.md': '[a](https://example.org#a) [b](#it-is-b) [c](../docs/b.md#c-1)\n\n## It is `b`!\n',
        'docs/b.md': '# C\n\n## C\n',
      },
    ],
  ],
)
