import type { Action, Effect } from './action.ts'
import type { ApiProcess } from './api-process.ts'
import type { Conditions } from './conditions.ts'
import type { Show } from './show.ts'
import type { StrategyFleet } from './strategy-fleet.ts'

const LOAD_BEGINS_WITHIN_MS = 5_000
const RESTORE_MS = 8_000

interface Loading {
  readonly fleet: StrategyFleet
  readonly lane: number
  readonly process: ApiProcess
}

/** Buttons that harm the API processes. */
export function processActions(show: Show, conditions: Conditions): Action[] {
  return [
    {
      id: 'kill-leader',
      label: 'Kill the leader',
      restoreLabel: 'Start them again',
      explanation: 'SIGKILL to the process of each side that loads the ranking',
      run: () => killLeaders(show, conditions),
    },
    {
      id: 'freeze-leader',
      label: 'Freeze the leader',
      restoreLabel: 'Let them go on',
      explanation: 'SIGSTOP to the process of each side that loads the ranking; the source changes meanwhile',
      run: () => freezeLeaders(show, conditions),
    },
    {
      id: 'more-processes',
      label: 'More processes',
      restoreLabel: 'Fewer processes',
      explanation: 'one more API process for each side',
      run: () => addProcesses(show),
    },
  ]
}

async function killLeaders(show: Show, conditions: Conditions): Promise<Effect> {
  const killed = await stopWhileLoading(show, conditions, (process) => process.kill())
  return {
    message: `Killed ${listed(killed)} during a load.`,
    restoreAfterMs: RESTORE_MS,
    restore: async () => {
      const lanes = killed.filter(({ fleet, lane }) => fleet.lanes[lane]?.ended)
      await Promise.all(lanes.map(({ fleet, lane }) => fleet.start(lane)))
      return 'The killed processes were started again.'
    },
  }
}

async function freezeLeaders(show: Show, conditions: Conditions): Promise<Effect> {
  const frozen = await stopWhileLoading(show, conditions, (process) => process.freeze())
  const revision = await conditions.changeSource()
  return {
    message: `Froze ${listed(frozen)} during a load; the source is now at revision ${revision}.`,
    restoreAfterMs: RESTORE_MS,
    restore: async () => {
      for (const { process } of frozen) process.thaw()
      return 'The frozen processes go on, and write what they have loaded, if they can.'
    },
  }
}

async function addProcesses(show: Show): Promise<Effect> {
  await Promise.all(show.fleets.map((fleet) => fleet.start()))
  return {
    message: 'Each side has one more process.',
    restoreAfterMs: 2 * RESTORE_MS,
    restore: async () => {
      await Promise.all(show.fleets.map((fleet) => fleet.removeLast()))
      return 'Each side has one process fewer.'
    },
  }
}

/** Ends the lifetime of the entry, and stops in each side the process that begins to load. Its load is slow, so it is stopped in the middle. */
async function stopWhileLoading(
  show: Show,
  conditions: Conditions,
  stop: (process: ApiProcess) => void,
): Promise<Loading[]> {
  await conditions.makeSlow()
  try {
    const stopped = show.fleets.map(async (fleet): Promise<Loading[]> => {
      const process = await fleet.whenLoading(LOAD_BEGINS_WITHIN_MS)
      if (process === undefined) return []
      stop(process)
      return [{ fleet, process, lane: fleet.lanes.indexOf(process) }]
    })
    await Promise.all(show.fleets.map((fleet) => fleet.expire()))
    return (await Promise.all(stopped)).flat()
  } finally {
    await conditions.restore()
  }
}

function listed(stopped: readonly Loading[]): string {
  return stopped.map(({ fleet, process }) => `${process.pid} (${fleet.strategy})`).join(', ') || 'no process'
}
