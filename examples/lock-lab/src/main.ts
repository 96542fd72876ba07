// npm run lock-lab [-- --verbose] [-- --lock c] [-- --json]: how each folklore lock breaks, on a real Redis. Exits with 0 only if every result is as expected.
import { parseArgs } from 'node:util'
import { checkCounter, type Counter, type CounterReport, counters } from './counter.ts'
import { checkLock, type LockReport } from './lab.ts'
import type { Lock } from './lock.ts'
import { locks } from './locks/all.ts'
import { coloured, INTRODUCTION, plain, printCounter, printLock, printTable, reportJson } from './report.ts'
import { type LabServers, openServers } from './servers.ts'

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const

interface LabOptions {
  readonly locks: readonly Lock[]
  readonly counters: readonly Counter[]
  /** Print the steps of each failure below the table. */
  readonly verbose: boolean
  /** Show every property of the lock, not only its known failures. */
  readonly inFull: boolean
  /** Print one JSON document and nothing else. */
  readonly json: boolean
}

process.exit(await main())

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2))
    const servers = await openServers()
    try {
      return await Promise.race([runLab(options, servers), interruption()])
    } finally {
      await servers.stop()
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return 1
  }
}

function readOptions(args: readonly string[]): LabOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      lock: { type: 'string' },
      verbose: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const { lock: wanted, verbose, json } = values
  if (wanted === undefined) return { locks, counters, verbose, inFull: false, json }
  const chosen = locks.filter(({ id, failures }) => id === wanted || failures.some((one) => one.id === wanted))
  if (chosen.length === 0)
    throw new Error(`--lock is one of ${locks.map(({ id }) => id).join(', ')}, not ${JSON.stringify(wanted)}`)
  return { locks: chosen, counters: [], verbose: true, inFull: true, json }
}

/** Returns the exit code. */
async function runLab(options: LabOptions, servers: LabServers): Promise<number> {
  const lockReports: LockReport[] = []
  for (const [place, lock] of options.locks.entries()) {
    showProgress(`checking lock ${place + 1} of ${options.locks.length}`)
    lockReports.push(await checkLock(lock, servers))
  }
  showProgress('')
  const counterReports: CounterReport[] = []
  for (const counter of options.counters) counterReports.push(await checkCounter(counter, servers))
  const { missing } = servers
  const results = [...lockReports.flatMap(({ properties }) => properties), ...counterReports]
  const unexpected = results.flatMap((one) => one.unexpected)
  if (options.json) console.log(JSON.stringify(reportJson(lockReports, counterReports, unexpected, missing), null, 2))
  else print(lockReports, counterReports, options)
  if (!options.json && missing !== undefined)
    console.error(`\nLeft out, because no server could be started: ${missing}`)
  const scope = missing === undefined ? 'Everything' : 'Everything that could be run'
  if (!options.json)
    console.log(
      unexpected.length === 0 ? `\n${scope} came out as expected.` : `\nNot as expected:\n${unexpected.join('\n')}`,
    )
  return unexpected.length === 0 ? 0 : 1
}

/** On a terminal, one line that the next one replaces. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[2K${text}`)
}

/** The table first: it is what a reader looks for, and the steps of all failures are longer than a screen. */
function print(
  lockReports: readonly LockReport[],
  counterReports: readonly CounterReport[],
  { verbose, inFull }: LabOptions,
): void {
  const style = process.stdout.isTTY && !process.env['NO_COLOR'] ? coloured : plain
  console.log(printTable(lockReports, style))
  if (!verbose) {
    console.log('\n  --verbose shows how each lock breaks, step by step; --lock c shows all of one lock.')
    return
  }
  console.log(INTRODUCTION)
  for (const report of lockReports) console.log(printLock(report, style, inFull))
  for (const report of counterReports) console.log(printCounter(report, style))
}

/** Resolves with the exit code of the first signal that asks the process to end. */
function interruption(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(EXIT_CODES[signal]))
  })
}
