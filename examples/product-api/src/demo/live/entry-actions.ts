import type { Action, Effect } from './action.ts'
import type { ApiProcess } from './api-process.ts'
import type { Conditions } from './conditions.ts'
import { lasting } from './lasting.ts'
import { tell } from './sentence.ts'
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
      explanation: 'ends the lifetime of the ranking',
      run: () => expire(show),
    },
    {
      id: 'invalidate',
      label: 'Invalidate during a load',
      explanation: 'the source changes while the old one is loaded',
      run: () => invalidateDuringLoad(show, conditions),
    },
    {
      id: 'soft-purge',
      label: 'Soft-purge 10,000 entries',
      explanation: 'by one tag; only cattlegrid has tags',
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
      explanation: 'it reads the reviews forty times',
      run: () =>
        lasting(show, {
          message: 'The query is slow',
          deed: (lasted) => `The query was slow for ${lasted}, behind cattlegrid`,
          begin: () => conditions.makeSlow(),
          end: () => conditions.restore(),
          restoreAfterMs: RESTORE_MS,
        }),
    },
    {
      id: 'fail',
      label: 'Make the query fail',
      restoreLabel: 'Let it succeed again',
      explanation: 'it divides by zero, in the database',
      run: () =>
        lasting(show, {
          message: 'The query fails',
          deed: (lasted) => `The query failed for ${lasted}, behind cattlegrid`,
          begin: () => conditions.makeFail(),
          end: () => conditions.restore(),
          restoreAfterMs: RESTORE_MS,
        }),
    },
    {
      id: 'more-load',
      label: 'More load',
      restoreLabel: 'Less load',
      explanation: `${2 * CLIENTS} clients for each side, not ${CLIENTS}`,
      run: () =>
        lasting(show, {
          message: `${2 * CLIENTS} clients ask each side once a second`,
          deed: (lasted) => `${2 * CLIENTS} clients asked each side for ${lasted}, of cattlegrid`,
          begin: async () => setClients(show, 2 * CLIENTS),
          end: async () => setClients(show, CLIENTS),
          restoreAfterMs: 2 * RESTORE_MS,
        }),
    },
  ]
}

function setClients(show: Show, count: number): void {
  for (const { clients } of show.sides) clients.count = count
}

async function expire(show: Show): Promise<Effect> {
  const aftermath = show.watch()
  const failures = await Promise.all(show.fleets.map((fleet) => fleet.expire()))
  const failure = failures.find((text) => text !== undefined)
  if (failure !== undefined) throw new Error(failure)
  return {
    message: 'Expired the ranking of each side.',
    figures: aftermath.figures,
    outcome: show.settle(aftermath).then((sides) => tell("Expired cattlegrid's ranking", sides)),
  }
}

/** The invalidation goes to one process, as after a write that it has handled: not to the one that loads, if there is another. */
async function invalidateDuringLoad(show: Show, conditions: Conditions): Promise<Effect> {
  const aftermath = show.watch()
  await conditions.makeSlow()
  try {
    const loading = show.fleets.map((fleet) => fleet.whenLoading(LOAD_BEGINS_WITHIN_MS))
    await Promise.all(show.fleets.map((fleet) => fleet.expire()))
    const loaders = await Promise.all(loading)
    const revision = await conditions.changeSource()
    await Promise.all(
      show.sides.map(async ({ fleet, figures }, place) => {
        fleet.expiryCount.entryEnded()
        const reply = await otherThan(loaders[place], fleet.awake)?.ask({ ask: 'invalidate' })
        if (reply?.error === undefined) figures.mustReach(revision)
      }),
    )
    const outcome = show.settle(aftermath, Date.now()).then((sides) => {
      return tell("Invalidated cattlegrid's ranking in mid-load", sides, { outdated: true })
    })
    return {
      message: `Invalidated each side in mid-load: an answer before revision ${revision} is outdated.`,
      figures: aftermath.figures,
      outcome,
    }
  } finally {
    await conditions.restore()
  }
}

function otherThan(loader: ApiProcess | undefined, awake: readonly ApiProcess[]): ApiProcess | undefined {
  return awake.find((process) => process !== loader) ?? awake[0]
}

async function softPurge(show: Show, filled: boolean): Promise<Effect> {
  const ours = show.fleets.find(({ strategy }) => strategy === 'cattlegrid')
  if (!filled) await ours?.awake[0]?.ask({ ask: 'fill', count: TAGGED })
  const aftermath = show.watch()
  const replies = await Promise.all(
    show.fleets.map(async ({ awake, expiryCount }) => {
      expiryCount.entryEnded()
      return await awake[0]?.ask({ ask: 'soft-purge' })
    }),
  )
  const failed = replies.find((reply) => reply?.error !== undefined)
  if (failed !== undefined) throw new Error(failed.error)
  const took = replies.find((reply) => reply?.took !== undefined)?.took ?? 0
  const deed = `${TAGGED.toLocaleString('en')} entries of cattlegrid became stale in ${took.toFixed(1)} ms`
  return {
    message: `${deed}.`,
    figures: aftermath.figures,
    outcome: show.settle(aftermath).then((sides) => tell(deed, sides)),
  }
}
