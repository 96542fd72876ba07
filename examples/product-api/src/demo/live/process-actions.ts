import { setTimeout as sleep } from 'node:timers/promises'
import { TTL_MS } from '../../strategies/strategy.ts'
import type { Action, Effect, Told } from './action.ts'
import type { Aftermath } from './aftermath.ts'
import type { ApiProcess } from './api-process.ts'
import type { Conditions } from './conditions.ts'
import { lasting } from './lasting.ts'
import { tell } from './sentence.ts'
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
      explanation: 'SIGKILL to the process that loads',
      run: () => killLeaders(show, conditions),
    },
    {
      id: 'freeze-leader',
      label: 'Freeze the leader',
      restoreLabel: 'Let them go on',
      explanation: 'SIGSTOP to it, while the source changes',
      run: () => freezeLeaders(show, conditions),
    },
    {
      id: 'more-processes',
      label: 'More processes',
      restoreLabel: 'Fewer processes',
      explanation: 'one more API process for each side',
      run: () =>
        lasting(show, {
          message: 'Each side has one more process',
          deed: (lasted) => `Each side had one more process for ${lasted}, and of cattlegrid's entry`,
          begin: async () => void (await Promise.all(show.fleets.map((fleet) => fleet.start()))),
          end: async () => void (await Promise.all(show.fleets.map((fleet) => fleet.removeLast()))),
          restoreAfterMs: 2 * RESTORE_MS,
        }),
    },
  ]
}

async function killLeaders(show: Show, conditions: Conditions): Promise<Effect> {
  const aftermath = show.watch()
  const killed = await stopWhileLoading(show, conditions, aftermath, (process) => process.kill())
  return {
    ...toldOf('Killed', killed, show, aftermath),
    restoreAfterMs: RESTORE_MS,
    restore: async () => {
      const lanes = killed.filter(({ fleet, lane }) => fleet.lanes[lane]?.ended)
      await Promise.all(lanes.map(({ fleet, lane }) => fleet.start(lane)))
      return { message: 'The killed processes were started again.' }
    },
  }
}

async function freezeLeaders(show: Show, conditions: Conditions): Promise<Effect> {
  const aftermath = show.watch()
  const frozen = await stopWhileLoading(show, conditions, aftermath, (process) => process.freeze())
  await conditions.changeSource()
  return {
    ...toldOf('Froze', frozen, show, aftermath),
    restoreAfterMs: RESTORE_MS,
    restore: async () => thaw(frozen, show),
  }
}

/** The frozen processes go on, and write what they have loaded, if they can: it is served for one lifetime. */
function thaw(frozen: readonly Loading[], show: Show): Told {
  const aftermath = show.watch()
  for (const { process } of frozen) process.thaw()
  const outcome = sleep(TTL_MS + 1_000).then(() => {
    aftermath.end()
    return tell("cattlegrid's frozen process went on", aftermath.figures(), { outdated: true })
  })
  return { message: 'The frozen processes go on, with what they have loaded.', figures: aftermath.figures, outcome }
}

function toldOf(verb: string, stopped: readonly Loading[], show: Show, aftermath: Aftermath): Told {
  const ours = stopped.find(({ fleet }) => fleet.strategy === 'cattlegrid')
  if (stopped.length === 0) throw new Error(`no process began to load within ${LOAD_BEGINS_WITHIN_MS / 1_000} s`)
  const deed =
    ours === undefined
      ? `${verb} no process of cattlegrid`
      : `${verb} cattlegrid's process ${ours.process.pid} in mid-load`
  const outcome = show.settle(aftermath).then((sides) => tell(deed, sides, { further: true }))
  return { message: `${deed}.`, figures: aftermath.figures, outcome }
}

/** Ends the lifetime of the entry, and stops in each side the process that begins to load. Its load is slow, so it is stopped in the middle. */
async function stopWhileLoading(
  show: Show,
  conditions: Conditions,
  aftermath: Aftermath,
  stop: (process: ApiProcess) => void,
): Promise<Loading[]> {
  await conditions.makeSlow()
  try {
    const stopped = show.fleets.map(async (fleet, place): Promise<Loading[]> => {
      const process = await fleet.whenLoading(LOAD_BEGINS_WITHIN_MS)
      if (process === undefined) return []
      aftermath.sides[place]?.stopped(process)
      stop(process)
      return [{ fleet, process, lane: fleet.lanes.indexOf(process) }]
    })
    await Promise.all(show.fleets.map((fleet) => fleet.expire()))
    return (await Promise.all(stopped)).flat()
  } finally {
    await conditions.restore()
  }
}
