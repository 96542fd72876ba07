import { describe, expect, it } from '@jest/globals'
import { type Files, runOn } from './house/broken-law.ts'

interface Row {
  readonly guard?: string
  readonly file?: string
  readonly find?: string
  readonly replace?: string
  readonly tests?: readonly string[]
  readonly titles?: string
}

const projects = [{ displayName: 'unit', testMatch: ['<rootDir>/test/*.test.js'], transform: {} }]

/** A tree with one guard in it, a test that notices when it is gone, and a table of these rows. */
function treeWith(...rows: readonly Row[]): Files {
  const row = { guarantee: 'G1', guard: 'never below zero', file: 'src/room.js', tests: ['test/room.test.js'] }
  const guards = rows.map((one) => ({ ...row, find: 'if (free < 0) return 0', replace: '', ...one }))
  return {
    'package.json': JSON.stringify({ jest: { projects } }),
    'src/room.js': 'exports.room = (free) => {\n  if (free < 0) return 0\n  return free\n}\n',
    'test/room.test.js':
      "const { room } = require('../src/room.js')\ntest('is never negative', () => expect(room(-1)).toBe(0))\ntest('is what is free', () => expect(room(1)).toBe(1))\n",
    'test/broken.test.js': "test('is red anyway', () => expect(1).toBe(2))\n",
    'tables.mjs': `export const tables = { all: ${JSON.stringify(guards)} }\n`,
  }
}

const run = (...rows: readonly Row[]) => runOn(treeWith(...rows), 'test-guards.mjs', '--tables', 'tables.mjs')

describe('npm run test:guards', () => {
  it('proves a guard by the test that turns red without it, and names the two', async () => {
    const { failed, text } = await run({})
    expect(text).toMatch(/ok {3}never below zero.*\n +is never negative\n/)
    expect(text).toMatch(/1 guards, 1 proven\n$/)
    expect(failed).toBe(false)
  })

  it('fails for each guard that no test misses, whose tests cannot tell, or that was not taken away but broken', async () => {
    const { failed, text } = await run(
      { guard: 'proven' },
      { guard: 'missed by nobody', titles: 'is what is free' },
      { guard: 'without a test of that name', titles: 'is what nobody wrote' },
      { guard: 'broken code', replace: 'if (' },
      { guard: 'watched by a red test', tests: ['test/broken.test.js'] },
    )
    expect(text).toMatch(/ok {3}proven/)
    expect(text).toMatch(/FAIL missed by nobody.*\n.*the tests stay green without it/)
    expect(text).toMatch(/FAIL without a test of that name.*\n.*no test was run/)
    expect(text).toMatch(/FAIL broken code.*\n.*a suite did not start: SyntaxError/)
    expect(text).toMatch(/FAIL watched by a red test.*\n.*red without any change: test\/broken\.test\.js/)
    expect(text).toContain('5 guards, 1 proven')
    expect(failed).toBe(true)
  })

  it.each<[string, Row, string]>([
    ['the file is gone', { file: 'src/gone.js' }, 'src/gone.js: never below zero: the file is gone'],
    ['the code is gone', { find: 'if (free < 1)' }, 'stands in the file 0 times, not once'],
    ['the code stands there twice', { find: 'free' }, 'stands in the file 3 times, not once'],
    ['nothing would change', { replace: 'if (free < 0) return 0' }, 'the replacement changes nothing'],
    ['a test is gone', { tests: ['test/gone.test.js'] }, 'there is no test/gone.test.js'],
    ['there is no test', { tests: [] }, 'name tests, of one project'],
  ])('fails before it runs anything when %s, so that no row rots', async (_, row, why) => {
    const { failed, text } = await run({}, row)
    expect(text).toContain(why)
    expect(text).not.toContain('without any change')
    expect(failed).toBe(true)
  })
})
