import type { Cell, ProcessReport } from './cell.ts'
import { FAULTS, type MatrixFault } from './faults.ts'
import { KEY_KINDS, type KeyKind, LOAD_TIME, STORE_TIMEOUT, WRITES } from './report.ts'

const AWAY = 'CATTLEGRID_STORE_AWAY'
/** How old an outage copy may be by default, ms: while Redis is away a hot key is loaded again when its copy is older. */
const OUTAGE_AGE = 5000

/** No answer is to be slower than this, ms. It is shown, and never asserted: a busy machine is no fault of the cache. */
export const BOUND: number = STORE_TIMEOUT + LOAD_TIME + 50

/** What a cell ought to have been and was not, in sentences. Nothing here depends on how fast the machine is. */
export function broken(cell: Cell): string[] {
  const fault = FAULTS.find(({ name }) => name === cell.fault)
  if (fault === undefined) throw new Error(`No fault ${cell.fault}`)
  return cell.processes.flatMap((report, index) =>
    [
      ...survival(report),
      ...KEY_KINDS.flatMap((kind) => asked(report, kind, fault)),
      ...written(report, fault),
      ...recovered(report),
    ].map((sentence) => `${cell.fault} via ${cell.via}, process ${index}: ${sentence}`),
  )
}

function survival({ alive, trouble = [] }: ProcessReport): string[] {
  return alive ? trouble.map((what) => `had ${what}`) : ['died']
}

function asked({ keys }: ProcessReport, kind: KeyKind, { answers }: MatrixFault): string[] {
  if (keys === undefined) return []
  const { errors, hung, loads, late } = keys[kind]
  // Where the store answers just in time, a machine that is busy makes some answers late: who misses one loads without a lease,
  // and who is answered after that finds nothing and leads. Where it answers nothing, the first load serves everybody.
  const most = (wave: number): number => 1 + (answers === 'everything' ? (late[wave] ?? 0) : 0)
  return [
    ...Object.entries(errors).map(
      ([code, times]) => `${times} callers of the ${kind} key got ${code}, and its loader works`,
    ),
    ...(hung > 0 ? [`${hung} callers of the ${kind} key hung`] : []),
    ...loads.flatMap((times, wave) =>
      times > most(wave) ? [`the ${kind} key was loaded ${times} times by the callers of wave ${wave}`] : [],
    ),
  ]
}

/** A write is done or it says that it is not; one that nobody can have executed must not be done. */
function written({ writes }: ProcessReport, { answers }: MatrixFault): string[] {
  if (writes === undefined) return []
  return WRITES.flatMap((write) =>
    writes[write]
      .filter((ended) => ended !== AWAY && (ended !== 'done' || answers === 'nothing'))
      .map((ended) => `${write} was ${ended}`),
  )
}

function recovered({ alive, recovery }: ProcessReport): string[] {
  if (recovery === undefined) return alive ? ['did not finish'] : []
  const { reads, writes, loads } = recovery
  const took = Math.max(reads ?? 0, writes ?? 0)
  const most = 2 + Math.ceil(took / OUTAGE_AGE)
  return [
    ...(reads === null || writes === null ? ['did not get back to the store'] : []),
    ...(loads > most ? [`loaded the hot key ${loads} times on the way back`] : []),
  ]
}
