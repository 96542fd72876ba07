import { InterleavingRun } from './interleaving.ts'
import { failuresOf, type Lock } from './lock.ts'
import { type Interleaving, moot, properties, type Property, type Verdict } from './properties.ts'
import type { LabServer, LabServers } from './servers.ts'
import { differences, type Step } from './steps.ts'

/** The result of one property on one lock. */
export interface PropertyReport extends Verdict {
  readonly property: Property
  /** The steps of the run that broke the property, or else of the first run. */
  readonly steps: readonly Step[]
  /** The number of runs: one without a pause, and one for each place of the pause. */
  readonly runs: number
  /** Where the result differs from what the lock's file says. */
  readonly unexpected: readonly string[]
}

export interface LockReport {
  readonly lock: Lock
  readonly properties: readonly PropertyReport[]
}

/** Checks every property on the lock. The servers work in parallel; properties without a server are left out. */
export async function checkLock(lock: Lock, servers: LabServers): Promise<LockReport> {
  const checkOn = async (name: 'shared' | 'own' | 'pair'): Promise<PropertyReport[]> => {
    const reports: PropertyReport[] = []
    const server = servers[name]
    if (server === undefined) return reports
    for (const property of properties.filter((one) => (one.server ?? 'shared') === name))
      reports.push(await checkProperty(lock, property, server, servers.newNamespace))
    return reports
  }
  const checked = (await Promise.all([checkOn('shared'), checkOn('own'), checkOn('pair')])).flat()
  return { lock, properties: properties.flatMap((property) => checked.filter((one) => one.property === property)) }
}

export async function checkProperty(
  lock: Lock,
  property: Property,
  server: LabServer,
  newNamespace: () => string,
): Promise<PropertyReport> {
  const result = await runInterleavings(lock, property, server, newNamespace)
  return { property, ...result, unexpected: unexpectedIn(lock, property, result) }
}

type Result = Omit<PropertyReport, 'property' | 'unexpected'>

/** Runs every interleaving, with the pause in every place, until the property breaks. */
async function runInterleavings(
  lock: Lock,
  { name, interleavings }: Property,
  server: LabServer,
  newNamespace: () => string,
): Promise<Result> {
  if (lock.renew === undefined && interleavings.some(renewsLock))
    return { ...moot('it cannot be renewed'), steps: [], runs: 0 }
  let first: Omit<Result, 'runs'> | undefined
  let runs = 0
  for (const { actions, judge } of interleavings) {
    for (let pauseAfter = 0, paused = true; paused; pauseAfter += 1) {
      const run = new InterleavingRun(lock, server, newNamespace(), pauseAfter)
      await run.perform(actions)
      runs += 1
      const result = { ...judge(run), steps: run.steps }
      if (result.verdict === 'broken') return { ...result, runs }
      first ??= result
      paused = run.paused
    }
  }
  if (first === undefined) throw new Error(`${name} has no interleaving`)
  return { ...first, runs }
}

function renewsLock({ actions }: Interleaving): boolean {
  return actions.some((action) => action.includes(' renews'))
}

function unexpectedIn(lock: Lock, { name }: Property, { verdict, why, steps }: Result): string[] {
  const expected = lock.breaks.includes(name) ? 'broken' : lock.moot.includes(name) ? 'moot' : 'kept'
  return [
    ...(verdict === expected ? [] : [`${lock.id}: "${name}" should be ${expected}, and was ${verdict}: ${why}`]),
    ...failuresOf(lock, name).flatMap((failure) => differences(failure, steps, why)),
  ]
}
