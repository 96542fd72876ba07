import { describe, expect, test } from '@jest/globals'
import { readRules, titlesOfTests } from '../support/rules.ts'

/** How many rules each section has. Sections 13 and 14 have none of their own. */
const SECTIONS = { 0: 4, 1: 6, 2: 9, 3: 6, 4: 5, 5: 14, 6: 5, 7: 5, 8: 8, 9: 8, 10: 7, 11: 6, 12: 1, 15: 1 }
/** Held by the compiler, in types.test-d.ts. */
const BY_TYPES = ['1.6']

const rules = readRules()

describe('the map of the rules', () => {
  test('has one row for each rule, in order', () => {
    const wanted = Object.entries(SECTIONS).flatMap(([section, count]) =>
      Array.from({ length: count }, (_, index) => `${section}.${index + 1}`),
    )
    expect(rules.map(({ number }) => number)).toEqual(wanted)
  })

  test('says of each rule what it is about and whether it is built', () => {
    for (const { number, says, state } of rules) {
      expect([number, says.length > 20]).toEqual([number, true])
      expect([number, ['built', 'partly', 'missing']]).toEqual([number, expect.arrayContaining([state])])
    }
  })

  test('names a test for each rule that is built, and none that does not exist', () => {
    const known = titlesOfTests()
    const without = rules.filter(({ state, titles }) => (state === 'missing') !== (titles.length === 0))
    expect(without.map(({ number }) => number)).toEqual(BY_TYPES)
    const unknown = rules.flatMap(({ number, titles }) =>
      titles.filter((title) => !known.has(title)).map((title) => `${number}: ${title}`),
    )
    expect(unknown).toEqual([])
  })
})
