import { beforeAll, describe, expect, jest, test } from '@jest/globals'
import { peers, play, type Played } from '../src/play/play.ts'

// It starts the packages of seven others in each of two processes.
jest.setTimeout(240_000)

const price = (id: string, amount: number): object => ({ id, price: amount })

let played: Map<string, Played>
beforeAll(async () => {
  played = await play(peers.flatMap((peer) => [`${peer}-before`, `${peer}-after`]))
})

describe.each(peers)('the migration from %s', (peer) => {
  let before: Played
  let after: Played

  beforeAll(() => {
    before = played.get(`${peer}-before`) as Played
    after = played.get(`${peer}-after`) as Played
  })

  test('gives a caller the answers that it got before', () => {
    expect(before.answers).toEqual([price('one', 10), price('one', 10), price('one', 11)])
    expect(after.answers).toEqual(before.answers)
  })

  test('leaves one load for a herd in two processes, and the same answer for all', () => {
    expect(after.cold.queries).toBe(1)
    expect(after.cold.answers).toEqual(before.cold.answers)
    expect(after.cold.answers).toHaveLength(1)
  })

  test('leaves one load for a herd while the database fails, and the error for all', () => {
    expect(after.failing).toMatchObject({ queries: 1, answers: ['"an error"'] })
  })

  test('saves loads', () => {
    expect(before.cold.queries + before.failing.queries).toBeGreaterThan(2)
  })
})

test('the migration from cache-manager gives a caller the same products, where it asks for several at once', () => {
  const products = [price('one', 11), price('two', 0)]
  expect(played.get('cache-manager-before')?.many).toEqual(products)
  expect(played.get('cache-manager-after')?.many).toEqual(products)
})
