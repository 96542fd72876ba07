// What the comparison shows of the kept results: a line for each contender, a column for each thing that was measured.
import { figureAt } from './bench-tables.mjs'
import { table } from './docstring.mjs'

/** Each column: its title, the table of a bench and the column in it. */
const comparisons = {
  fleet: {
    rows: [
      'cattlegrid',
      'naive lock',
      'naive lock, one flight',
      'lru-cache fetch',
      'layered-loader',
      'async-cache-dedupe',
      'cache-manager',
      'ocache',
      'cachified',
      'cacheable',
      'bentocache',
    ],
    columns: [
      ['Loads of a cold key', 'stampede-cold', 'loads'],
      ['Loads of a stale key', 'stampede-stale', 'loads'],
      ['p99 there, ms', 'stampede-stale', 'p99'],
      ['Loads that fail', 'stampede-failing', 'loads'],
      ['Callers without an answer', 'stampede-failing', 'unanswered'],
      ['Speed of a hit in process, a Map = 1', 'hit', 'ratio'],
      ['Time of a hit in Redis, GET = 1', 'redis-1', 'time'],
    ],
  },
  http: {
    rows: [
      'Express, cattlegrid',
      'Fastify, cattlegrid',
      'Express, apicache',
      'Express, route-cache',
      'Fastify, @fastify/caching',
      'nginx proxy_cache',
      'Varnish',
    ],
    columns: [
      ['Handler runs, cold', 'http-cold', 'runs'],
      ['Handler runs, expired', 'http-stale', 'runs'],
      ['p99 there, ms', 'http-stale', 'p99'],
      ['Handler runs, it answers 500', 'http-failing', 'runs'],
      ['Clients that get 200 then', 'http-failing', 'ok'],
      ['Rate of hits, nginx = 1', 'http-hit', 'nginx'],
    ],
  },
}

/** What one contender is called in the other tables. */
const otherNames = { cattlegrid: 'getOrSet', 'Express, cattlegrid': 'Express, cattlegrid, 2 processes' }
otherNames['Fastify, cattlegrid'] = 'Fastify, cattlegrid, 2 processes'

/** @param {import('./regions.mjs').Page} page @param {string} name */
export function peersTable({ tree }, name) {
  const { rows, columns } = comparisons[name]
  const body = rows.map((row) => [
    row.includes('cattlegrid') ? `**${row}**` : row,
    ...columns.map(([, id, column]) => cell(tree, id, row, column)),
  ])
  return table(['', ...columns.map(([title]) => title)], body, '--:')
}

/** Nothing where the contender does not take part. */
function cell(tree, id, row, column) {
  const names = [row, otherNames[row]].filter((name) => name !== undefined)
  for (const name of names) {
    const figure = figureAt(tree, `${id} | ${name} | ${column}`, '')
    if (figure !== '') return figure
  }
  return ''
}
