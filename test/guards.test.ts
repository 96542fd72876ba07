import { describe, expect, it } from '@jest/globals'
import { type Files, runOn } from './house/broken-law.ts'

interface Row {
  readonly guard?: string
  readonly code?: string
  readonly without?: string
  readonly test?: string
}

const projects = [{ displayName: 'unit', testMatch: ['<rootDir>/test/*.test.js'], transform: {} }]

const rowOf = ({
  guard = 'never below zero',
  code = 'if (free < 0) return 0',
  without = 'if (free < -9) return 0',
  test = 'test/room.test.js: is never negative',
}: Row): string => `G1 ${guard}\n  src/room.js\n  - ${code}\n  + ${without}\n  ${test}\n`

/** A tree with one guard in it, a test that notices when it is gone, and a table of these rows. */
function treeWith(...rows: readonly Row[]): Files {
  return {
    'package.json': JSON.stringify({ jest: { projects } }),
    'src/room.js': 'exports.room = (free) => {\n  if (free < 0) return 0\n  return free\n}\n',
    'test/room.test.js':
      "const { room } = require('../src/room.js')\ntest('is never negative', () => expect(room(-1)).toBe(0))\ntest('is what is free', () => expect(room(1)).toBe(1))\ntest('is red anyway', () => expect(1).toBe(2))\n// is what nobody wrote\n",
    'scripts/guards/table.txt': rows.map(rowOf).join('\n'),
  }
}

const run = (...rows: readonly Row[]) => runOn(treeWith(...rows), 'scripts/test-guards.mjs', '--root', '.')

describe('npm test -- guards', () => {
  it('proves a guard by the test that turns red without it', async () => {
    const { failed, text } = await run({})
    expect(text).toMatch(/^ok {3}G1 never below zero/)
    expect(text).toMatch(/1 guards, 1 proven\n$/)
    expect(failed).toBe(false)
  })

  it('takes the lines of a guard away in whatever indentation they stand', async () => {
    const { text } = await run({ code: 'if (free < 0) return 0\n  - return free', without: 'return free' })
    expect(text).toContain('1 guards, 1 proven')
  })

  it('fails for each guard that no test misses, whose tests cannot tell, or that was not taken away but broken', async () => {
    const { failed, text } = await run(
      { guard: 'proven' },
      { guard: 'missed by no test', test: 'test/room.test.js: is what is free' },
      { guard: 'without a test', test: 'test/room.test.js: is what nobody wrote' },
      { guard: 'broken code', without: 'if (' },
      { guard: 'watched by a red test', test: 'test/room.test.js: is red anyway' },
    )
    expect(text).toMatch(/ok {3}G1 proven/)
    expect(text).toMatch(/FAIL G1 missed by no test.*\n.*without it: green/)
    expect(text).toMatch(/FAIL G1 without a test.*\n.*no test has that title/)
    expect(text).toMatch(/FAIL G1 broken code.*\n.*does not start: SyntaxError/)
    expect(text).toMatch(/FAIL G1 watched by a red test.*\n.*not green to begin with: red/)
    expect(text).toContain('5 guards, 1 proven')
    expect(failed).toBe(true)
  })

  it('fails before it runs anything when the sources have moved on without a row', async () => {
    const { failed, text } = await run({}, { code: 'if (free < 1)' })
    expect(text).toContain('stands in src/room.js 0 times, not once')
    expect(text).not.toContain('ok')
    expect(failed).toBe(true)
  })

  it('fails for a row that is not written as the table says', async () => {
    const { failed, text } = await run({ test: 'test/room.test.js' })
    expect(text).toContain('this is no row')
    expect(failed).toBe(true)
  })
})
