// A process that runs jest again and again in the folder it stands in: starting jest costs more than most of these tests.
import { createRequire } from 'node:module'

const { runCLI } = createRequire(import.meta.url)('jest')

/** Time in the unit tests is moved by hand, so one of them that waits at all waits for ever. */
const patience = { unit: { testTimeout: 2000 }, integration: {} }

function judge({ testResults, numTotalTests }) {
  const crashed = testResults.find(({ testExecError }) => testExecError !== undefined && testExecError !== null)
  if (crashed !== undefined) return { kind: 'broken', why: `a suite did not start: ${crashed.failureMessage}` }
  if (numTotalTests === 0) return { kind: 'broken', why: 'no test was run' }
  const failed = testResults.flatMap((suite) => suite.testResults).find(({ status }) => status === 'failed')
  return failed === undefined ? { kind: 'green' } : { kind: 'red', title: failed.fullName }
}

process.on('message', async ({ tests, project, mutated }) => {
  const options = { runInBand: true, runTestsByPath: true, watchman: false, silent: true, reporters: [] }
  const limits = mutated ? patience[project] : {}
  const argv = { $0: '', _: tests, selectProjects: [project], cacheDirectory: '.jest-cache', ...options, ...limits }
  try {
    process.send(judge((await runCLI(argv, [process.cwd()])).results))
  } catch (error) {
    process.send({ kind: 'broken', why: String(error) })
  }
})
process.on('disconnect', () => process.exit())
