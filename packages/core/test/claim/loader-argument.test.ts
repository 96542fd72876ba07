import { afterEach, describe, expect, it, jest } from '@jest/globals'
import type { Load } from '../../src/index.ts'
import { LoaderArgument } from '../../src/claim/loader-argument.ts'
import { createFleet, rejection } from '../support/fleet.ts'

/** Starts a load that never ends by itself, and ends it at `loadTimeout`. Returns what the loader got from `listen`. */
async function timedOut<T>(listen: (load: Load<never>) => T): Promise<T> {
  const fleet = createFleet()
  let heard: T | undefined
  const loader = (load: Load<never>): Promise<never> => {
    heard = listen(load)
    return new Promise(() => undefined)
  }
  const error = rejection(fleet.caches[0].getOrSet('k', loader, { loadTimeout: 1000 }))
  await fleet.runtime.advance(1000)
  expect(await error).toMatchObject({ code: 'CATTLEGRID_LOAD_TIMEOUT' })
  return heard as T
}

const reason = expect.objectContaining({ code: 'CATTLEGRID_LOAD_TIMEOUT' })

describe('the end of a load that is stopped', () => {
  afterEach(() => {
    jest.restoreAllMocks()
  })

  it('is told to every listener, in their order, with its reason and without an AbortController', async () => {
    const made = jest.spyOn(globalThis, 'AbortController')
    const told: unknown[] = []
    await timedOut((load) => {
      LoaderArgument.onStop(load, (why) => told.push(['first', why]))
      LoaderArgument.onStop(load, (why) => told.push(['second', why]))
    })
    expect(told).toEqual([
      ['first', reason],
      ['second', reason],
    ])
    expect(made).not.toHaveBeenCalled()
  })

  it('is told to a listener by the signal of a load from another copy of the library', () => {
    const stopping = new AbortController()
    const told: unknown[] = []
    LoaderArgument.onStop({ signal: stopping.signal } as Load<never>, (why) => told.push(why))
    stopping.abort('closed')
    expect(told).toEqual(['closed'])
  })

  it('shows in a signal that the loader asks for afterwards', async () => {
    const load = await timedOut((argument) => argument)
    expect([load.signal.aborted, load.signal.reason]).toEqual([true, reason])
  })
})
