import { type Files, guardTable, holds } from './house/broken-law.ts'

const table = (changes: Readonly<Record<string, unknown>>): Files => ({
  'scripts/guards/tables/index.mjs': guardTable(changes),
})
const tests = (text: string): Files => ({ 'packages/core/test/a.test.ts': text })

holds(
  'guards',
  [
    [
      'a title that no test has any more',
      tests("it('has two winners', () => {})\n"),
      'packages/core/test/a.test.ts:1',
      'no test is called “… has one winner …”, as the table all has it',
    ],
    [
      'a test file that is gone',
      table({ tests: ['packages/core/test/gone.test.ts'] }),
      'scripts/guards/tables/index.mjs:1',
      'names packages/core/test/gone.test.ts, which does not exist',
    ],
    [
      'a rule that nothing proves',
      table({ rule: undefined }),
      'scripts/guards/rules.mjs:1',
      'no guard of a table is the rule winner',
    ],
    [
      'a page that does not tell the rules',
      { 'docs/protocol.md': '# The lease\n' },
      'docs/protocol.md:1',
      'there is no region <!-- generated: guards rules -->',
    ],
  ],
  [
    ['a title that begins above its test', table({ titles: 'a lease has one' })],
    ['a title with a value in it', tests("it.each([1, 2])('this one has one winner of %s', () => {})\n")],
    [
      'the title of a contract that the test runs',
      {
        ...tests("import { storeContract } from '@cattlegrid/testkit'\nstoreContract()\n"),
        'packages/testkit/src/store-contract/leases.ts': "test(`has one winner${'s'}`, () => {})\n",
      },
    ],
  ],
)
