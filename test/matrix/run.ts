// Every fault, met by processes at work. `npm test -- matrix`, with any of these behind it:
//   --small            as a continuous run does it
//   --json             the whole report instead of the table
//   --only name,…      some faults       --via url|client     one kind of client
import { writeFileSync } from 'node:fs'
import { availableParallelism, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { resultJson } from '../../bench/src/run/result-json.ts'
import { type Cell, FULL, playCell, SMALL } from './cell.ts'
import { FAULTS, VIAS } from './faults.ts'
import { matrixTable } from './matrix-table.ts'
import { LOAD_TIME, STORE_TIMEOUT } from './report.ts'
import { BOUND, broken } from './verdict.ts'

const { values: options } = parseArgs({
  options: {
    small: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string', default: FAULTS.map(({ name }) => name).join(',') },
    via: { type: 'string', default: VIAS.join(',') },
  },
})

/** The entries that are named, in their own order. */
function chosen<T>(all: readonly T[], nameOf: (one: T) => string, names: string): T[] {
  const wanted = names.split(',')
  const unknown = wanted.filter((name) => !all.some((one) => nameOf(one) === name))
  if (unknown.length > 0) throw new Error(`No ${unknown.join(', ')}; there are ${all.map(nameOf).join(', ')}`)
  return all.filter((one) => wanted.includes(nameOf(one)))
}

const faults = chosen(FAULTS, ({ name }) => name, options.only)
const vias = chosen(VIAS, (via): string => via, options.via)
const scale = options.small ? SMALL : FULL
const say = (text: string): void => void process.stderr.write(text)

/** What else runs here would be measured too: such figures are not to be kept. */
const [busy = 0] = loadavg()
if (busy > availableParallelism() / 2)
  say(`The machine is busy (load ${busy.toFixed(1)}): its slowness will be among the figures.\n`)

async function play(): Promise<Cell[]> {
  const cells: Cell[] = []
  for (const fault of faults) {
    for (const via of vias) {
      say(`${fault.title}, via ${via} …`)
      const cell = await playCell(fault, via, scale, join(import.meta.dirname, 'member.ts'))
      say(` ${broken(cell).length === 0 ? 'as it should be' : 'NOT as it should be'}\n`)
      cells.push(cell)
    }
  }
  return cells
}

const cells = await play()
const findings = cells.flatMap(broken)
const given = { node: process.version, busy, scale, storeTimeout: STORE_TIMEOUT, loadTime: LOAD_TIME, bound: BOUND }
const report = { ...given, faults: faults.map(({ name, title }) => ({ name, title })), cells, broken: findings }
const whole = !options.small && faults.length === FAULTS.length && vias.length === VIAS.length
if (whole) writeFileSync(join(import.meta.dirname, 'results.json'), resultJson(report))
console.log(options.json ? JSON.stringify(report, undefined, 2) : ['', matrixTable(cells), '', ...findings].join('\n'))
process.exitCode = findings.length === 0 ? 0 : 1
