import { expect, it } from '@jest/globals'
import type { CacheEvent, EventName } from '@cattlegrid/core'
import { pairOfCaches, playEveryOutcome } from '../support/every-outcome.ts'

const names: readonly EventName[] = [
  ...(['hit', 'stale-hit', 'miss', 'answer', 'join', 'lead', 'follow', 'wake', 'load', 'outcome', 'commit'] as const),
  ...(['refused', 'violation', 'lease-lost', 'load-failed', 'cooling', 'wait-timeout', 'invalidate'] as const),
  ...(['away', 'breaker', 'notices'] as const),
]

it('every outcome emits its events, each with its name and that of its cache', async () => {
  const pair = pairOfCaches()
  const events: CacheEvent[] = []
  for (const name of names) pair.cache.on(name, (event) => void events.push(event))
  await playEveryOutcome(pair)
  expect([...new Set(events.map(({ type }) => type))].toSorted()).toEqual([...names].toSorted())
  expect(new Set(events.map(({ cache }) => cache))).toEqual(new Set(['one']))
  const outcomes = events.flatMap((event) => (event.type === 'outcome' ? [event.outcome.kind] : []))
  expect(new Set(outcomes)).toEqual(new Set(['committed', 'failed', 'uncacheable', 'refused', 'abandoned']))
})
