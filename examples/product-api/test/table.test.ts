import { describe, expect, test } from '@jest/globals'
import { stripVTControlCharacters } from 'node:util'
import { NOTES, renderReport } from '../src/demo/report.ts'
import { renderTable, type Table } from '../src/demo/table.ts'

const table: Table = {
  heads: ['without', 'with'],
  groups: [
    [
      { label: 'requests', cells: [cell('152'), cell('81,204')] },
      { label: 'loads', cells: [cell('9.40', 'bad'), cell('1.00', 'good')] },
    ],
    [{ label: 'p99', cells: [cell('7 ms'), cell('3 ms')] }],
  ],
}

function cell(text: string, tone: 'good' | 'bad' | 'plain' = 'plain') {
  return { text, tone } as const
}

describe('renderTable', () => {
  test('labels stand left, figures right, in columns as wide as their widest cell, with a rule after each group', () => {
    expect(renderTable(table, false).split('\n')).toEqual([
      '            without    with',
      '  ─────────────────────────',
      '  requests      152  81,204',
      '  loads        9.40    1.00',
      '  ─────────────────────────',
      '  p99          7 ms    3 ms',
      '  ─────────────────────────',
    ])
  })

  test('a head of two lines ends where the others end', () => {
    const lines = renderTable({ ...table, heads: ['without', 'with\n+ stale'] }, false).split('\n')
    expect(lines.slice(0, 2)).toEqual(['                        with', '            without  + stale'])
  })

  test('colour changes no column', () => {
    const coloured = renderTable(table, true)
    expect(coloured).toContain('\u001B[32m')
    expect(coloured).toContain('\u001B[31m')
    expect(stripVTControlCharacters(coloured)).toBe(renderTable(table, false))
  })
})

describe('renderReport', () => {
  const traffic = { seconds: 10.04, requests: 1_234, waited: 40, errors: 0, p99: 12.34, slowest: 250.6 }
  const run = { name: 'protected', processes: 2, traffic, loads: { total: 12, mostAtOnce: 2, expiries: 10 } }

  test('fits a terminal of 80 columns, with seven figures in each column', () => {
    const heavy = { ...run, traffic: { ...traffic, requests: 9_999_999, slowest: 99_999 } }
    const guarded = ['Express', 'Fastify', 'Express + stale', 'Fastify + stale'].map((name) => ({ ...heavy, name }))
    const report = renderReport(
      { title: 'title', runs: [{ ...heavy, name: 'unprotected' }, ...guarded], notes: NOTES },
      false,
    )
    expect(report.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  test('the times stand below the counts, behind a rule of their own', () => {
    const report = renderReport({ title: 'title', runs: [{ ...run, name: 'unprotected' }, run], notes: NOTES }, false)
    const [, counted = '', measured = ''] = report.split(/^ +─+$/m)
    const labels = (rows: string): string[] =>
      Array.from(rows.matchAll(/^ {2}(\S.*?) {2}/gm), ([, label = '']) => label)
    expect(labels(measured)).toEqual(['seconds', 'p99', 'slowest'])
    expect(labels(counted)).toContain('waited for a load')
  })

  test('every figure that is asked for has a row', () => {
    const report = renderReport({ title: 'title', runs: [{ ...run, name: 'unprotected' }, run], notes: NOTES }, false)
    const lines = report.split('\n').map((line) => line.trim().split(/ {2,}/))
    expect(lines).toContainEqual(['unprotected', 'protected'])
    expect(lines).toContainEqual(['requests', '1,234', '1,234'])
    expect(lines).toContainEqual(['database queries', '12', '12'])
    expect(lines).toContainEqual(['most at once', '2', '2'])
    expect(lines).toContainEqual(['loads per expiry', '1.20', '1.20'])
    expect(lines).toContainEqual(['waited for a load', '40', '40'])
    expect(lines).toContainEqual(['expiries', '10', '10'])
    expect(lines).toContainEqual(['p99', '12.3 ms', '12.3 ms'])
    expect(lines).toContainEqual(['slowest', '251 ms', '251 ms'])
    expect(lines).toContainEqual(['errors', '0', '0'])
  })
})
