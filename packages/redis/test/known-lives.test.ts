import { describe, expect, test } from '@jest/globals'
import { KnownLives, type Life } from '../src/known-lives.ts'

const life: Life = { bornAt: 0, freshUntil: 60_000 }

describe('a life that Redis told', () => {
  test('is known for a second, and asked for again from then on', () => {
    const lives = new KnownLives()
    lives.note('k', life, 100)
    expect([lives.of('k', 1099), lives.of('k', 1100)]).toEqual([life, undefined])
  })

  test('is not known for longer than the entry is fresh', () => {
    const lives = new KnownLives()
    lives.note('k', { ...life, freshUntil: 150 }, 100)
    expect([lives.of('k', 149)?.freshUntil, lives.of('k', 150)]).toEqual([150, undefined])
  })

  test('is not kept where nothing is fresh, even for who asks by a clock that lags', () => {
    const lives = new KnownLives()
    lives.note('k', life, 99)
    lives.note('k', { ...life, freshUntil: 100 }, 100)
    expect([lives.of('k', 99), lives.size]).toEqual([undefined, 0])
  })

  test('is replaced by what Redis tells later', () => {
    const lives = new KnownLives()
    lives.note('k', life, 0)
    lives.note('k', { ...life, bornAt: 7 }, 0)
    expect([lives.of('k', 0)?.bornAt, lives.size]).toEqual([7, 1])
  })

  test('is forgotten by its key, or with all others', () => {
    const lives = new KnownLives()
    for (const key of ['a', 'b', 'c']) lives.note(key, life, 0)
    lives.forget('a')
    expect([lives.of('a', 0), lives.of('b', 0)]).toEqual([undefined, life])
    lives.clear()
    expect([lives.of('b', 0), lives.size]).toEqual([undefined, 0])
  })
})

describe('the lives that are kept', () => {
  test('are bounded, however many keys are read', () => {
    const lives = new KnownLives(10)
    for (let key = 0; key < 1000; key += 1) lives.note(String(key), life, 0)
    expect(lives.size).toBeLessThanOrEqual(20)
  })

  test('are those of the keys that were asked for last', () => {
    const lives = new KnownLives(10)
    lives.note('hot', life, 0)
    for (let key = 0; key < 1000; key += 1) {
      lives.note(String(key), life, 0)
      if (key % 5 === 0) lives.of('hot', 0)
    }
    expect([lives.of('hot', 0), lives.of('999', 0), lives.of('0', 0)]).toEqual([life, life, undefined])
  })

  test('are forgotten in whichever half they are', () => {
    const lives = new KnownLives(2)
    for (const key of ['a', 'b', 'c']) lives.note(key, life, 0)
    for (const key of ['a', 'b', 'c']) lives.forget(key)
    expect(lives.size).toBe(0)
  })
})
