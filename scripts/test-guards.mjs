// Proves that every guard of guards/table.txt has a test: takes one away at a time, in a copy of the tree, and wants that test to turn red.
//
//   node scripts/test-guards.mjs [--root folder] [word …]     all guards, or those in whose row one of the words stands
import { execFile, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { escaped, readTable, rotOf, tableFile } from './guards/table.mjs'
import { Tree } from './house/tree.mjs'

const jest = createRequire(import.meta.url).resolve('jest/bin/jest')
const notCopied = new Set(['node_modules', '.git', 'dist', 'coverage', '.stryker-tmp'])
/** A run that takes longer has no end, ms. It proves nothing: on a busy machine a sound one may be as slow. */
const longest = 120_000
/** Without its guard a test may wait for what never comes, ms. */
const patience = 10_000
const copies = 2

/** A copy of the tree to break things in: somebody may be working in the checkout. */
function copyOf(root) {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'guards-')))
  cpSync(root, copy, { recursive: true, filter: (source) => source === root || !notCopied.has(basename(source)) })
  if (existsSync(join(root, 'node_modules'))) symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** What jest says of the one test of a guard: `green`, `red`, or why neither can be said. */
function runTest(copy, { test, title }) {
  const chosen = ['--runTestsByPath', test, '--testNamePattern', escaped(title)]
  const how = [
    '--runInBand',
    '--json',
    '--silent',
    '--testTimeout',
    String(patience),
    '--cacheDirectory',
    '.jest-cache',
  ]
  return new Promise((settle) => {
    // A group of its own, so that a server that the test started ends with a run that hangs.
    const child = spawn(process.execPath, [jest, ...chosen, ...how], {
      cwd: copy,
      detached: true,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    let said = ''
    child.stdout.on('data', (chunk) => (said += chunk))
    const end = () => child.pid === undefined || process.kill(-child.pid, 'SIGKILL')
    process.once('exit', end)
    const timer = setTimeout(end, longest)
    child.on('close', () => {
      clearTimeout(timer)
      process.off('exit', end)
      settle(verdictOf(said))
    })
  })
}

function verdictOf(report) {
  if (!report.startsWith('{')) return 'the run did not end'
  const { numRuntimeErrorTestSuites, numFailedTests, numPassedTests, testResults } = JSON.parse(report)
  if (numRuntimeErrorTestSuites > 0)
    return `the test file does not start: ${/\w*Error: .*/.exec(testResults[0].message)?.[0]}`
  if (numFailedTests > 0) return 'red'
  return numPassedTests > 0 ? 'green' : 'no test has that title'
}

/** Why the guard is not proven; `undefined` when it is. */
async function objectionTo(copy, guard) {
  const before = await runTest(copy, guard)
  if (before !== 'green') return `its test is not green to begin with: ${before}`
  const path = join(copy, guard.file)
  const whole = readFileSync(path, 'utf8')
  try {
    await write(
      copy,
      path,
      whole.replace(guard.code, () => guard.without),
    )
    const after = await runTest(copy, guard)
    return after === 'red' ? undefined : `without it: ${after}`
  } finally {
    await write(copy, path, whole)
  }
}

async function write(copy, path, text) {
  writeFileSync(path, text)
  // Redis gets the scripts from the module that is generated from them.
  if (path.endsWith('.lua')) await promisify(execFile)(process.execPath, ['scripts/embed-lua.mjs'], { cwd: copy })
}

/** Takes guards from the list until it is empty; counts those that are proven. */
async function prove(root, waiting) {
  const copy = copyOf(root)
  const remove = () => rmSync(copy, { recursive: true, force: true, maxRetries: 5 })
  process.on('exit', remove)
  let proven = 0
  for (let guard = waiting.shift(); guard !== undefined; guard = waiting.shift()) {
    const objection = await objectionTo(copy, guard)
    proven += objection === undefined ? 1 : 0
    console.log(`${objection === undefined ? 'ok  ' : 'FAIL'} ${guard.guarantee} ${guard.sentence}  (${guard.file})`)
    if (objection !== undefined) console.log(`     ${objection}`)
  }
  process.off('exit', remove)
  remove()
  return proven
}

const { values, positionals: words } = parseArgs({
  options: { root: { type: 'string', default: resolve(import.meta.dirname, '..') } },
  allowPositionals: true,
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
const root = resolve(values.root)
const tree = new Tree(root)
const guards = readTable(tree.text(tableFile)).filter(
  (guard) => words.length === 0 || words.some((word) => Object.values(guard).join(' ').includes(word)),
)
const rotten = guards.flatMap((guard) => {
  const why = rotOf(tree, guard)
  return why === undefined ? [] : [`${guard.sentence}: ${why}`]
})
if (rotten.length > 0) throw new Error(rotten.join('\n'))
const waiting = [...guards]
const counts = await Promise.all(Array.from({ length: copies }, () => prove(root, waiting)))
const proven = counts.reduce((sum, count) => sum + count, 0)
console.log(`\n${guards.length} guards, ${proven} proven`)
process.exitCode = guards.length > 0 && proven === guards.length ? 0 : 1
