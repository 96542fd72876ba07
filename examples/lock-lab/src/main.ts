// npm run lock-lab [-- --lock c] [-- --json]: how each folklore lock breaks, on a real Redis. Exits 0 only if everything came out as told.
import { type Audience, runLab } from './lab.ts'
import { counters } from './counter.ts'
import { labJson } from './lab-json.ts'
import { locks } from './locks/all.ts'
import { readOptions, type LabOptions } from './options.ts'
import { paintFor } from './paint.ts'
import { INTRODUCTION, printingAudience, printTable } from './print-lab.ts'
import { openWorlds, type Worlds } from './worlds/worlds.ts'

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const
const SILENT: Audience = { lock: () => undefined, counter: () => undefined }

process.exit(await main())

async function main(): Promise<number> {
  try {
    const options = readOptions(process.argv.slice(2), { locks, counters })
    const worlds = await openWorlds()
    try {
      return await Promise.race([show(options, worlds), interruption()])
    } finally {
      await worlds.stop()
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return 1
  }
}

async function show({ inFull, json, ...chosen }: LabOptions, worlds: Worlds): Promise<number> {
  const paint = paintFor(process.stdout.isTTY && !process.env['NO_COLOR'])
  const audience = json ? SILENT : printingAudience(console.log, paint, inFull)
  if (!json) console.log(INTRODUCTION)
  const report = await runLab(chosen.locks, chosen.counters, worlds, audience)
  const surprises = [...report.locks.flatMap(({ trials }) => trials), ...report.counters].flatMap(
    (one) => one.surprises,
  )
  if (json) console.log(JSON.stringify(labJson(report, surprises, worlds.missing), null, 2))
  else {
    console.log(printTable(report.locks, paint))
    if (worlds.missing !== undefined)
      console.error(`\nLeft out, because no server of the lab's own could be started: ${worlds.missing}`)
    const whatWasPlayed = worlds.missing === undefined ? 'Everything' : 'Everything that could be played'
    console.log(
      surprises.length === 0 ? `\n${whatWasPlayed} came out as told.` : `\nNot as told:\n${surprises.join('\n')}`,
    )
  }
  return surprises.length === 0 ? 0 : 1
}

/** Resolves at a signal that asks the process to end; what was started is stopped then. */
function interruption(): Promise<number> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(EXIT_CODES[signal]))
  })
}
