import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { cellsOf, titlesIn } from '../support/rules.ts'

/** The sections that require something of a shared cache. */
const SECTIONS = {
  9111: [
    '3 3.1 3.2 3.3 3.4 3.5 4 4.1 4.2 4.2.1 4.2.2 4.2.3 4.2.4 4.3.1 4.3.2 4.3.3 4.3.4 4.3.5 4.4 5.1 5.2 5.2.1 5.2.1.5 5.2.1.7',
    '5.2.2 5.2.2.1 5.2.2.2 5.2.2.3 5.2.2.4 5.2.2.5 5.2.2.6 5.2.2.7 5.2.2.8 5.2.2.9 5.2.2.10 5.2.3 5.3 5.4 5.5',
  ].join(' '),
  5861: '3 4',
  9211: '2 2.1 2.2 2.3 2.4 2.7 2.8',
  9213: '2.1 2.2 3.1',
}
const NOT_OURS = 'Not ours: '

const rows = cellsOf(readFileSync(join(__dirname, 'rfc-map.md'), 'utf8'))
  .filter(([section = '']) => /^\d{4} \d/.test(section))
  .map(([section = '', says = '', held = '']) => ({ section, says, held }))

describe('the map of the RFCs', () => {
  test('has a row for each section that requires something', () => {
    const wanted = Object.entries(SECTIONS).flatMap(([rfc, sections]) =>
      sections.split(' ').map((section) => `${rfc} ${section}`),
    )
    expect(new Set(rows.map(({ section }) => section))).toEqual(new Set(wanted))
  })

  test('says in each row what is required, and what holds it or why nothing must', () => {
    const empty = rows.filter(({ says, held }) => says.length < 20 || held.replace(NOT_OURS, '').length < 20)
    expect(empty).toEqual([])
  })

  test('names no test that does not exist', () => {
    const known = new Set(titlesIn(resolve(__dirname, '../../../../examples/reverse-proxy/test')))
    const unknown = rows
      .filter(({ held }) => !held.startsWith(NOT_OURS))
      .flatMap(({ section, held }) => held.split(' · ').map((title) => ({ section, title })))
      .filter(({ title }) => !known.has(title))
    expect(unknown).toEqual([])
  })
})
