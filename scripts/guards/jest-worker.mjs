// A process that runs jest again and again in the folder it stands in: starting jest costs more than most of these tests.
import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const { runCLI } = createRequire(import.meta.url)('jest')

const untilFirstFailure = fileURLToPath(import.meta.resolve('./until-first-failure.mjs'))

/** ms. Time in the tests of core is moved by hand, so one of them that waits at all waits for ever; sockets may take a while. */
const patience = (tests) => (tests.every((test) => test.startsWith('packages/core/')) ? 1500 : 10_000)

const crashed = ({ testExecError }) => testExecError !== undefined && testExecError !== null

/** What is wrong, without the advice that jest has for everybody. */
const essence = (message) => /^ *(\w*Error: .*)$/m.exec(message)?.[1] ?? message.trim()

function judge({ testResults, numPassedTests, numFailedTests }) {
  const suites = testResults.filter((suite) => crashed(suite) || suite.numFailingTests > 0)
  const files = suites.map(({ testFilePath }) => relative(process.cwd(), testFilePath))
  const crash = suites.find(crashed)
  if (crash !== undefined)
    return { kind: 'broken', why: `a suite did not start: ${essence(crash.failureMessage)}`, files }
  if (numPassedTests + numFailedTests === 0) return { kind: 'broken', why: 'no test was run', files }
  const failed = suites.flatMap((suite) => suite.testResults).find(({ status }) => status === 'failed')
  return failed === undefined ? { kind: 'green', files } : { kind: 'red', title: failed.fullName, files }
}

async function answer({ tests, titles, project, mutated }) {
  const options = { runInBand: true, runTestsByPath: true, watchman: false, silent: true, reporters: [] }
  const named = titles === undefined ? {} : { testNamePattern: titles.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') }
  const limits = mutated ? { testTimeout: patience(tests), env: untilFirstFailure } : {}
  const argv = {
    $0: '',
    _: tests,
    selectProjects: [project],
    cacheDirectory: '.jest-cache',
    ...options,
    ...named,
    ...limits,
  }
  try {
    return judge((await runCLI(argv, [process.cwd()])).results)
  } catch (error) {
    return { kind: 'broken', why: String(error), files: tests }
  }
}

process.on('message', (question) => {
  void answer(question).then((verdict) => process.send(verdict))
})
// What a broken load rejects when its test is over belongs to no test any more; during one, jest listens itself.
process.on('unhandledRejection', () => {})
process.on('disconnect', () => process.exit())
