import type { Action, Effect } from './action.ts'
import type { ApiProcess } from './api-process.ts'
import type { Conditions } from './conditions.ts'
import { CLIENTS, type Show } from './show.ts'

const LOAD_BEGINS_WITHIN_MS = 5_000
const RESTORE_MS = 8_000
const TAGGED = 10_000

/** Buttons about the entry, its source and the traffic. */
export function entryActions(show: Show, conditions: Conditions): Action[] {
  let filled = false
  return [
    {
      id: 'expire',
      label: 'Expire now',
      explanation: 'ends the lifetime of the ranking on each side',
      run: async () => {
        await Promise.all(show.fleets.map((fleet) => fleet.expire()))
        return { message: 'The ranking is expired on each side.' }
      },
    },
    {
      id: 'invalidate',
      label: 'Invalidate during a load',
      explanation: 'changes the source and invalidates the ranking while each side loads the old one',
      run: () => invalidateDuringLoad(show, conditions),
    },
    {
      id: 'soft-purge',
      label: 'Soft-purge 10,000 entries',
      explanation: 'expireTags of one tag in cattlegrid; the other sides have no tags, and lose their ranking',
      run: async () => {
        const effect = await softPurge(show, filled)
        filled = true
        return effect
      },
    },
    {
      id: 'slow',
      label: 'Make the query slow',
      restoreLabel: 'Make it fast again',
      explanation: 'each query reads the reviews forty times',
      run: () => change('The query is slow.', conditions, () => conditions.makeSlow()),
    },
    {
      id: 'fail',
      label: 'Make the query fail',
      restoreLabel: 'Let it succeed again',
      explanation: 'each query divides by zero, in the database',
      run: () => change('The query fails.', conditions, () => conditions.makeFail()),
    },
    {
      id: 'more-load',
      label: 'More load',
      restoreLabel: 'Less load',
      explanation: `${2 * CLIENTS} clients for each side, not ${CLIENTS}`,
      run: async () => moreLoad(show),
    },
  ]
}

async function change(message: string, conditions: Conditions, begin: () => Promise<void>): Promise<Effect> {
  await begin()
  return {
    message,
    restoreAfterMs: RESTORE_MS,
    restore: async () => {
      await conditions.restore()
      return 'The query is as it was.'
    },
  }
}

function moreLoad(show: Show): Effect {
  for (const { clients } of show.sides) clients.count = 2 * CLIENTS
  return {
    message: `${2 * CLIENTS} clients ask each side once a second.`,
    restoreAfterMs: 2 * RESTORE_MS,
    restore: async () => {
      for (const { clients } of show.sides) clients.count = CLIENTS
      return `${CLIENTS} clients ask each side once a second.`
    },
  }
}

/** The invalidation goes to one process, as after a write that it has handled: not to the one that loads, if there is another. */
async function invalidateDuringLoad(show: Show, conditions: Conditions): Promise<Effect> {
  await conditions.makeSlow()
  try {
    const loading = show.fleets.map((fleet) => fleet.whenLoading(LOAD_BEGINS_WITHIN_MS))
    await Promise.all(show.fleets.map((fleet) => fleet.expire()))
    const loaders = await Promise.all(loading)
    const revision = await conditions.changeSource()
    await Promise.all(
      show.sides.map(async ({ fleet, figures }, place) => {
        const writer = otherThan(loaders[place], fleet.alive)
        const reply = await writer?.ask({ ask: 'invalidate' })
        if (reply?.error === undefined) figures.mustReach(revision)
      }),
    )
    return { message: `Each side was invalidated during a load: an answer before revision ${revision} is outdated.` }
  } finally {
    await conditions.restore()
  }
}

function otherThan(loader: ApiProcess | undefined, processes: readonly ApiProcess[]): ApiProcess | undefined {
  const ready = processes.filter(({ frozen }) => !frozen)
  return ready.find((process) => process !== loader) ?? ready[0]
}

async function softPurge(show: Show, filled: boolean): Promise<Effect> {
  const replies = await Promise.all(
    show.fleets.map(async ({ strategy, alive }) => {
      const process = alive.find(({ frozen }) => !frozen)
      if (strategy === 'cattlegrid' && !filled) await process?.ask({ ask: 'fill', count: TAGGED })
      return await process?.ask({ ask: 'soft-purge' })
    }),
  )
  const failed = replies.find((reply) => reply?.error !== undefined)
  if (failed !== undefined) throw new Error(failed.error)
  const took = replies.find((reply) => reply?.took !== undefined)?.took ?? 0
  return { message: `${TAGGED.toLocaleString('en')} entries of cattlegrid are stale, after ${took.toFixed(1)} ms.` }
}
