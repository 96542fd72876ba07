import { type Files, guardTable, holds } from './house/broken-law.ts'

const table = (text: string): Files => ({ 'scripts/guards/table.txt': text })
const tests = (text: string): Files => ({ 'packages/core/test/entry.test.ts': text })
const at = 'scripts/guards/table.txt:1'

holds(
  'guards',
  [
    ['code that the sources do not have', table(guardTable({ code: 'body: Buffer' })), at, '0 times, not once'],
    ['code that stands there twice', table(guardTable({ code: 'e' })), at, 'times, not once'],
    [
      'a title that no test has any more',
      tests("it('has two winners', () => {})\n"),
      at,
      'no test of packages/core/test/entry.test.ts is called “… has one winner …”',
    ],
    [
      'a test file that is gone',
      table(guardTable({ test: 'packages/core/test/gone.test.ts' })),
      at,
      'packages/core/test/gone.test.ts does not exist',
    ],
    ['a guarantee without a guard', table(guardTable().replace('G7 ', 'G6 ')), at, 'no guard for G7'],
    [
      'a table that outgrows its reader',
      table(Array.from({ length: 7 }, () => guardTable()).join('\n')),
      at,
      'at most 60',
    ],
    [
      'a page that does not tell the rules',
      { 'docs/protocol.md': '# The lease\n' },
      'docs/protocol.md:1',
      'there is no region <!-- generated: guards rules -->',
    ],
  ],
  [
    [
      'the title of a contract that the test runs',
      {
        ...tests("import { storeContract } from '@cattlegrid/testkit'\nstoreContract()\n"),
        'packages/testkit/src/store-contract/leases.ts': "test(`has one winner${'s'}`, () => {})\n",
      },
    ],
  ],
)
