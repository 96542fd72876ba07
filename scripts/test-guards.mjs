// Proves that every guard has a test: takes one away at a time, in a copy of the tree, and wants the named tests to turn red.
//
//   node scripts/test-guards.mjs [word …]     all guards, or those in whose row, or table's name, one of the words stands
//     --root folder     another tree     --tables file     and its tables
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { guarantees } from './guards/guarantees.mjs'
import { TestRunner } from './guards/run-tests.mjs'
import { Sandbox } from './guards/sandbox.mjs'
import { projectOf, rot, rowsOf } from './guards/table.mjs'
import { tables as ours } from './guards/tables/index.mjs'

const copies = 2

/** The test files that are not green in the untouched tree: they would prove every guard that names them. */
async function redBeforehand({ runner }, guards) {
  const red = []
  const tests = new Set(guards.flatMap((guard) => guard.tests))
  for (const project of ['unit', 'integration']) {
    const mine = [...tests].filter((test) => projectOf(test) === project)
    if (mine.length === 0) continue
    console.log(`${mine.length} ${project} test files without any change …`)
    const verdict = await runner.run({ tests: mine }, { mutated: false })
    if (verdict.kind !== 'green') console.error(`red without any change: ${verdict.title ?? verdict.why}`)
    red.push(...verdict.files)
  }
  return red
}

async function verdictOn(guard, red, { sandbox, runner }) {
  const useless = guard.tests.filter((test) => red.includes(test))
  if (useless.length > 0) return { kind: 'broken', why: `red without any change: ${useless.join(', ')}` }
  return await sandbox.without(guard, () => runner.run(guard, { mutated: true }))
}

/** Each workbench takes the next row until none is left. */
async function prove(guards, red, workbenches) {
  const waiting = [...guards.entries()]
  const verdicts = []
  const work = async (workbench) => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, guard] = next
      verdicts[index] = await verdictOn(guard, red, workbench)
      const done = verdicts.filter((verdict) => verdict !== undefined).length
      console.log(`${done}/${guards.length} ${verdicts[index].kind.padEnd(6)} ${guard.file}: ${guard.guard}`)
    }
  }
  await Promise.all(workbenches.map(work))
  return verdicts
}

const said = {
  red: ({ title }) => title,
  green: () => 'NOT PROVEN: the tests stay green without it',
  broken: ({ why }) => `NOT PROVEN: ${why}`,
}

function printTable(guards, verdicts) {
  for (const [guarantee, promise] of Object.entries(guarantees)) {
    const mine = [...guards.entries()].filter(([, guard]) => guard.guarantee === guarantee)
    if (mine.length > 0) console.log(`\n${guarantee.padEnd(4)} ${promise}`)
    for (const [index, { guard, file }] of mine) {
      const verdict = verdicts[index]
      console.log(`  ${verdict.kind === 'red' ? 'ok  ' : 'FAIL'} ${guard}  (${file})`)
      console.log(`         ${said[verdict.kind](verdict)}`)
    }
  }
}

/** A copy of the tree and the process that runs its tests; gone with this process, however it ends. */
function openWorkbench(root) {
  const sandbox = new Sandbox(root)
  const runner = new TestRunner(sandbox.path)
  const close = () => {
    process.off('exit', close)
    runner.stop()
    sandbox.remove()
  }
  process.on('exit', close)
  return { sandbox, runner, close }
}

async function main(root, tables, words) {
  const all = rowsOf(tables)
  const guards =
    words.length === 0 ? all : all.filter((row) => words.some((word) => JSON.stringify(row).includes(word)))
  const rotten = guards.flatMap((guard) => ({ guard, why: rot(root, guard) })).filter(({ why }) => why !== undefined)
  for (const { guard, why } of rotten) console.error(`${guard.file}: ${guard.guard}: ${why}`)
  if (guards.length === 0) console.error('no guard to prove')
  if (rotten.length > 0 || guards.length === 0) return false
  const workbenches = Array.from({ length: Math.min(copies, guards.length) }, () => openWorkbench(root))
  try {
    const red = await redBeforehand(workbenches[0], guards)
    const verdicts = await prove(guards, red, workbenches)
    printTable(guards, verdicts)
    const proven = verdicts.filter(({ kind }) => kind === 'red').length
    console.log(`\n${guards.length} guards, ${proven} proven`)
    return proven === guards.length && red.length === 0
  } finally {
    for (const { close } of workbenches) close()
  }
}

const { values, positionals } = parseArgs({
  options: { root: { type: 'string', default: resolve(import.meta.dirname, '..') }, tables: { type: 'string' } },
  allowPositionals: true,
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
const { tables } =
  values.tables === undefined ? { tables: ours } : await import(pathToFileURL(resolve(values.root, values.tables)).href)
process.exitCode = (await main(resolve(values.root), tables, positionals)) ? 0 : 1
