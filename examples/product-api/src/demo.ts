// npm run demo: one route with and without the cache, compared in a table. Exits with 0 only if the protected routes made one load per expiry.
import { createCleanup, type Cleanup } from './demo/cleanup.ts'
import { Interrupted, interruption } from './demo/interruption.ts'
import { measure } from './demo/measure.ts'
import { readOptions, type DemoOptions } from './demo/options.ts'
import { createProgress, type Progress } from './demo/progress.ts'
import { renderReport } from './demo/report.ts'
import { setStage } from './demo/stage.ts'
import { findFaults } from './demo/verdict.ts'

process.exit(await main())

async function main(): Promise<number> {
  const cleanup = createCleanup(printError)
  try {
    const options = readOptions(process.argv.slice(2), process.env)
    const progress = createProgress(options.headless)
    const faults = await Promise.race([show(options, progress, cleanup), interruption()]).finally(progress.done)
    for (const fault of faults) console.error(fault)
    return faults.length === 0 ? 0 : 1
  } catch (error) {
    printError(error)
    return error instanceof Interrupted ? error.exitCode : 1
  } finally {
    await cleanup.run()
  }
}

/** Measures, prints the table, and returns its faults. */
async function show(options: DemoOptions, progress: Progress, cleanup: Cleanup): Promise<string[]> {
  const { title, fleets, pool } = await setStage(options, progress, cleanup)
  const runs = await measure({ fleets, pool, expiries: options.expiries, progress, onTraffic: cleanup.defer })
  progress.done()
  const colour = process.stdout.isTTY && !process.env['NO_COLOR']
  console.log(renderReport(title, runs, colour))
  return findFaults(runs, options.expiries)
}

function printError(error: unknown): void {
  // A host name with several addresses fails with one error for each, inside an error without a message.
  if (error instanceof AggregateError) error.errors.forEach(printError)
  else console.error(error instanceof Error ? error.message : String(error))
}
