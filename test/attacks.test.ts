import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { cellsOf, readRules, titlesIn, titlesOfTests } from '../packages/http/test/support/rules.ts'

/** The attacks that must have a row, in the order of the table. */
const ATTACKS = [
  'unkeyed headers',
  'Host / X-Forwarded-Host',
  'absolute-form / fragment',
  'unkeyed query, utm',
  'query / fragment / host / Accept-Encoding explosion',
  'cache deception',
  'key confusion',
  'Set-Cookie leak',
  'Authorization leak',
  'leaks across processes',
  'CORS origin poison',
  'method override',
  'fat GET',
  'Range / 206 / 416, conditional 304 / 412 poison',
  'HEAD poison',
  'CPDoS error pages',
  'client no-cache / reload floods',
  'timing / probing',
  'waiter exhaustion',
  'slow clients',
  'followers that leave',
  'leader that leaves, at each stage',
  'truncated bodies',
  'request smuggling',
  'one connection of many clients',
  'names that every object has',
  'words of caches in a request',
  'purge without leave',
]

const rows = cellsOf(readFileSync(resolve(__dirname, '../docs/attacks.md'), 'utf8'))
  .filter((cells) => cells.length > 4)
  .map(([attack = '', without = '', does = '', rules = '', tests = '']) => ({
    attack,
    without,
    does,
    rules: rules.split(', '),
    titles: tests.split(' · '),
  }))
  .slice(2)

describe('the table of attacks', () => {
  test('has a row for each attack, in order', () => {
    expect(rows.map(({ attack }) => attack)).toEqual(ATTACKS)
  })

  test('says what happens without the rule and what happens with it, and names rules that are there', () => {
    const known = new Set(readRules().map(({ number }) => number))
    const faults = rows.filter(
      ({ without, does, rules }) => without.length < 20 || does.length < 20 || !rules.every((rule) => known.has(rule)),
    )
    expect(faults).toEqual([])
  })

  test('names tests for each attack, all of which exist, and of its own folder all', () => {
    const own = titlesIn(resolve(__dirname, 'attacks'))
    const known = new Set([...titlesOfTests(), ...own, ...titlesOfFleets()])
    const named = new Set(rows.flatMap(({ titles }) => titles))
    expect([...named].filter((title) => !known.has(title))).toEqual([])
    expect(own.filter((title) => !named.has(title) && !isFamily(title))).toEqual([])
  })
})

/** What holds tests together, and is none. */
function isFamily(title: string): boolean {
  return / on …$|^two … apps over one Redis$/.test(title)
}

/** Of the fleets, whose tests are called by another name. */
function titlesOfFleets(): readonly string[] {
  const text = readFileSync(resolve(__dirname, 'fleet/http.run.test.ts'), 'utf8')
  return [...text.matchAll(/\bit\('([^']+)'/g)].map(([, title = '']) => title)
}
