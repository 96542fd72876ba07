import type { Loads } from './loads.ts'
import type { Traffic } from './traffic.ts'

/** One route of one app, driven once. */
export interface Run {
  readonly name: string
  readonly processes: number
  readonly traffic: Traffic
  readonly loads: Loads
}

export interface Runs {
  readonly unprotected: Run
  readonly guarded: readonly Run[]
}

/** The unprotected route must ask the database at least this many times as often, or the run shows nothing. */
const CLEARLY_MORE = 5

/** Why the runs do not show what they should: one sentence each, none when they do. */
export function findFaults({ unprotected, guarded }: Runs, expiriesWanted: number): string[] {
  const most = Math.max(...guarded.map((run) => run.loads.total))
  const faults = guarded.flatMap((run) => faultsOf(run, expiriesWanted))
  if (unprotected.loads.total < CLEARLY_MORE * most) {
    faults.push(
      `load too small to show anything: ${unprotected.loads.total} database queries unprotected against ${most} protected`,
    )
  }
  return faults
}

function faultsOf({ name, traffic, loads }: Run, expiriesWanted: number): string[] {
  const faults: string[] = []
  const expiries = loads.periods - 1
  if (loads.total !== loads.periods) faults.push(`${name}: ${loads.total} loads where ${loads.periods} were needed`)
  if (expiries < expiriesWanted) faults.push(`${name}: only ${expiries} expiries, ${expiriesWanted} were wanted`)
  if (traffic.errors > 0) faults.push(`${name}: ${traffic.errors} of the requests ended in an error`)
  return faults
}
