import { describe, expect, it } from '@jest/globals'
import * as fc from 'fast-check'
import { optionsOf, play, type Stage } from '../../../../test/calls/play.ts'
import { scenarios } from '../../../../test/calls/scenario.ts'
import { cases } from '../../../../test/support/properties.ts'
import { createFleet } from '../support/fleet.ts'

/** Everything that a scenario does by itself ends within this time, ms. */
const LONG = 100_000

describe('calls of every verb, alone and inside of loads', () => {
  it('all end, leave nothing behind, fail only where they may, and get nothing that an acknowledged write had replaced', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const { runtime, caches, store } = createFleet(optionsOf(scenario))
        const pause = (ms: number): Promise<void> => new Promise((resolve) => void runtime.schedule(resolve, ms))
        const settle: Stage['settle'] = async (isDone) => {
          await runtime.advance(LONG)
          await isDone()
        }
        expect(await play(scenario, { caches, stores: [store], pause, settle })).toEqual([])
      }),
      { numRuns: Number(process.env['CATTLEGRID_RUNS'] ?? cases(300)) },
    )
  })
})
