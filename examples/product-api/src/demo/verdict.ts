import type { Loads } from './loads.ts'
import type { Traffic } from './traffic.ts'

/** One measurement of one route. */
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

/** The unprotected route must make at least this many times as many loads, or the comparison shows nothing. */
const CLEARLY_MORE = 5

/** Independent of the length of the run; 1 is the minimum. */
export function loadsPerExpiry({ loads }: Run): number {
  return loads.total / Math.max(1, loads.expiries)
}

/** Why the runs do not show what they should: one sentence for each fault. */
export function findFaults({ unprotected, guarded }: Runs, expiriesWanted: number): string[] {
  const without = loadsPerExpiry(unprotected)
  const most = Math.max(...guarded.map(loadsPerExpiry))
  const faults = guarded.flatMap((run) => faultsOf(run, expiriesWanted))
  if (without < CLEARLY_MORE * most) {
    faults.push(
      `load too small to show anything: ${without.toFixed(2)} loads per expiry unprotected, ${most.toFixed(2)} protected`,
    )
  }
  return faults
}

function faultsOf({ name, traffic, loads }: Run, expiriesWanted: number): string[] {
  const faults: string[] = []
  const { total, expiries } = loads
  if (total !== expiries) faults.push(`${name}: ${total} loads where ${expiries} were needed`)
  if (expiries < expiriesWanted) faults.push(`${name}: only ${expiries} expiries, ${expiriesWanted} were wanted`)
  if (traffic.errors > 0) faults.push(`${name}: ${traffic.errors} of the requests ended in an error`)
  return faults
}
