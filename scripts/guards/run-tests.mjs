// One run of jest in a copy of the tree, and what it says.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { projectOf } from './table.mjs'

const jest = createRequire(import.meta.url).resolve('jest/bin/jest')
/** A run that takes longer hangs, ms: without some guards a loop has no end. */
const longest = { unit: 30_000, integration: 120_000 }
/** Time in these tests is moved by hand, so one that waits at all waits for ever. */
const patience = { unit: ['--testTimeout=2000'], integration: [] }

/** @typedef {{ kind: 'green' } | { kind: 'red', title: string } | { kind: 'broken', why: string }} Verdict */

function judge({ testResults, numTotalTests }) {
  const crashed = testResults.find(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  )
  if (crashed !== undefined) return { kind: 'broken', why: `a suite did not start: ${crashed.message.trim()}` }
  if (numTotalTests === 0) return { kind: 'broken', why: 'no test was run' }
  const failed = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .find(({ status }) => status === 'failed')
  return failed === undefined ? { kind: 'green' } : { kind: 'red', title: failed.fullName }
}

/** Runs these tests, of one project, in `folder`. @returns {Promise<Verdict>} */
export async function runTests(folder, tests, { mutated, signal }) {
  const project = projectOf(tests[0])
  const report = join(folder, 'guards-report.json')
  rmSync(report, { force: true })
  const options = [
    '--runInBand',
    '--runTestsByPath',
    '--json',
    `--outputFile=${report}`,
    `--cacheDirectory=${folder}/.jest-cache`,
  ]
  const args = [jest, ...tests, ...options, ...(mutated ? patience[project] : []), '--selectProjects', project]
  const limit = AbortSignal.timeout(mutated ? longest[project] : 10 * longest[project])
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'pipe'],
    killSignal: 'SIGKILL',
    signal: AbortSignal.any([signal, limit]),
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (said = (said + text).slice(-4000)))
  child.on('error', () => {})
  await once(child, 'close').catch(() => {})
  signal.throwIfAborted()
  if (limit.aborted) return { kind: 'red', title: 'the run did not end' }
  if (!existsSync(report)) return { kind: 'broken', why: `jest wrote no report: ${said.trim()}` }
  return judge(JSON.parse(readFileSync(report, 'utf8')))
}
