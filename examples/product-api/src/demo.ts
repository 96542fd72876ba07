// npm run demo: a page with four ways to keep a cache, live. npm run demo -- --headless: one route with and without the cache, compared in a
// table; exits with 0 only if the protected routes made one load per expiry. `--help` lists the options.
import { createCleanup, type Cleanup } from './demo/cleanup.ts'
import { Interrupted, interruption } from './demo/interruption.ts'
import { openPage } from './demo/live/open-page.ts'
import { measure } from './demo/measure.ts'
import { HELP, readOptions, type DemoOptions } from './demo/options.ts'
import { createProgress, type Progress } from './demo/progress.ts'
import { NOTES, renderReport, type Report } from './demo/report.ts'
import { findRedis, setStage } from './demo/stage.ts'
import { findFaults } from './demo/verdict.ts'
import { errorText } from './error-text.ts'

process.exit(await main())

async function main(): Promise<number> {
  const cleanup = createCleanup(printError)
  const interrupted = interruption()
  // It may come before anybody waits for it.
  interrupted.catch(() => undefined)
  try {
    const options = readOptions(process.argv.slice(2), process.env)
    if (options.help) {
      console.log(HELP)
      return 0
    }
    const progress = createProgress(options.headless)
    return await run(options, { progress, cleanup, interrupted }).finally(progress.done)
  } catch (error) {
    printError(error)
    return error instanceof Interrupted ? error.exitCode : 1
  } finally {
    await cleanup.run()
  }
}

interface Context {
  readonly progress: Progress
  readonly cleanup: Cleanup
  readonly interrupted: Promise<never>
}

async function run(options: DemoOptions, { progress, cleanup, interrupted }: Context): Promise<number> {
  const redis =
    options.headless || options.memory
      ? undefined
      : await Promise.race([findRedis(options, progress, cleanup), interrupted])
  if (redis === undefined && !options.headless && !options.memory)
    progress.note('The page needs Redis. The table needs none, and follows.')
  if (redis === undefined) return await Promise.race([printTable(options, progress, cleanup), interrupted])
  const page = await Promise.race([openPage(options, redis, progress, cleanup), interrupted])
  progress.done()
  console.log(`\n  The page is at ${page.url} (Ctrl-C ends it; its table follows after ${options.expiries} expiries)`)
  void Promise.race([page.report, interrupted]).then(print, (error: unknown) => {
    if (!(error instanceof Interrupted)) printError(error)
  })
  // From here on, a signal is how the demo ends.
  return await interrupted.catch(() => 0)
}

/** Measures, prints the table and its faults, and returns the exit code. */
async function printTable(options: DemoOptions, progress: Progress, cleanup: Cleanup): Promise<number> {
  const { title, fleets, pool } = await setStage(options, progress, cleanup)
  const runs = await measure({ fleets, pool, expiries: options.expiries, progress, onTraffic: cleanup.defer })
  progress.done()
  print({ title, runs: [runs.unprotected, ...runs.guarded], notes: NOTES })
  const faults = findFaults(runs, options.expiries)
  for (const fault of faults) console.error(fault)
  return faults.length === 0 ? 0 : 1
}

function print(report: Report): void {
  console.log(renderReport(report, process.stdout.isTTY && !process.env['NO_COLOR']))
}

function printError(error: unknown): void {
  console.error(errorText(error))
}
