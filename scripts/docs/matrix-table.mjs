// The table of faults of docs/operations.md, from the kept result of `npm test -- matrix`.
import { table } from './docstring.mjs'

const file = 'test/matrix/results.json'
const kinds = ['hot', 'stale', 'cold']

/** @param {import('./regions.mjs').Page} page */
export function matrixTable({ tree }) {
  if (!tree.has(file)) return 'No result is kept yet: `npm test -- matrix`.'
  const { scale, storeTimeout, loadTime, busy, node, faults, cells } = tree.json(file)
  const rows = cells.map(({ fault, via, processes }) => {
    const seen = processes.flatMap(({ keys }) => (keys === undefined ? [] : [keys]))
    const most = (what) => highest(seen.flatMap((keys) => kinds.flatMap((kind) => keys[kind][what])))
    return [
      faults.find(({ name }) => name === fault).title,
      `\`${via}\``,
      ...kinds.map((kind) => shares(seen.map((keys) => keys[kind]))),
      most('slowest'),
      most('loads'),
      back(processes),
      String(processes.filter(({ alive, trouble }) => alive && trouble?.length === 0).length),
    ]
  })
  const setting =
    `${scale.processes} processes × ${scale.callers} callers of each key in each of ${scale.waves} waves; \`storeTimeout\` ${storeTimeout} ms, ` +
    `loads of ${loadTime} ms; Node ${node}, load average ${busy.toFixed(1)} on two cores before the run. \`npm test -- matrix\` measures it again.`
  const head = ['Fault', 'Store made with', 'Hot key got', 'Stale key got', 'Cold key got', 'Slowest answer, ms']
  const tail = ['Most loads of a process, key and wave', 'Back after, ms', 'Processes without trouble']
  return `${setting}\n\n${table([...head, ...tail], rows)}`
}

const highest = (numbers) => String(Math.round(Math.max(0, ...numbers)))

function shares(tallies) {
  const total = new Map()
  const counts = tallies.flatMap(({ answers, errors, hung }) => Object.entries({ ...answers, ...errors, hung }))
  for (const [name, times] of counts) if (times > 0) total.set(name, (total.get(name) ?? 0) + times)
  const all = [...total.values()].reduce((sum, times) => sum + times, 0)
  const sorted = [...total].toSorted(([, one], [, other]) => other - one)
  return sorted.map(([name, times]) => `${Math.round((100 * times) / all)} % ${name}`).join(', ')
}

function back(processes) {
  const times = processes.map(({ recovery }) => recovery?.reads ?? null)
  return times.includes(null) ? 'not by itself' : highest(times)
}
