import { expect, test } from '@jest/globals'
import { Figures } from '../src/demo/live/figures.ts'
import { StrategyFleet } from '../src/demo/live/strategy-fleet.ts'

function figures(): Figures {
  const databaseUrl = Promise.resolve('')
  const fleet = new StrategyFleet({ strategy: 'token-lock', databaseUrl, redisUrl: '', onSpawn: () => undefined })
  return new Figures(fleet)
}

const later = (): number => performance.now() + 1
const response = (revision: number | undefined, sentAt = later()) => ({
  latency: 5,
  revision,
  waited: revision === 2,
  sentAt,
  process: undefined,
})

test('an answer is outdated if an earlier one was newer', () => {
  const shown = figures()
  shown.onResponse(response(2))
  shown.onResponse(response(1))
  shown.onResponse(response(2))
  expect(shown.outdated).toBe(1)
})

test('an answer that was asked for before the newer one came is not outdated', () => {
  const shown = figures()
  const sentAt = performance.now() - 1
  shown.onResponse(response(2))
  shown.onResponse(response(1, sentAt))
  expect(shown.outdated).toBe(0)
})

test('after an acknowledged invalidation, an answer of the old revision is outdated', () => {
  const shown = figures()
  shown.onResponse(response(1))
  shown.mustReach(2)
  shown.onResponse(response(1))
  expect(shown.outdated).toBe(1)
})

test('an answer counts as waited for if the process says so', () => {
  const shown = figures()
  shown.onResponse(response(1))
  shown.onResponse(response(2))
  expect(shown.waited).toBe(1)
})

test('a second has its own figures, and the sums go on', () => {
  const shown = figures()
  shown.onResponse(response(1))
  shown.onResponse(response(undefined))
  expect(shown.takeSample()).toMatchObject({ requests: 1, errors: 1, p50: 5, p99: 5, sum: { errors: 1 } })
  expect(shown.takeSample()).toMatchObject({ requests: 0, errors: 0, p50: null, p99: null, sum: { errors: 1 } })
})
