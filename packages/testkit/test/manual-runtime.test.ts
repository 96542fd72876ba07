import { describe, expect, test } from '@jest/globals'
import { createManualRuntime } from '@cattlegrid/testkit'

describe('manual runtime', () => {
  test('time stands still until it is moved', async () => {
    const runtime = createManualRuntime()
    const { now, coarseNow, timeOfDay } = runtime
    const before = [now(), coarseNow(), timeOfDay()] as const
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect([now(), coarseNow(), timeOfDay()]).toEqual(before)
    await runtime.advance(1500.5)
    expect([now(), coarseNow(), timeOfDay()]).toEqual(before.map((moment) => moment + 1500.5))
  })

  test('timers fire in the order in which they fall due, each at its own time', async () => {
    const runtime = createManualRuntime()
    const start = runtime.now()
    const fired: (readonly [string, number])[] = []
    const note = (name: string) => () => void fired.push([name, runtime.now() - start])
    runtime.schedule(note('late'), 30)
    runtime.schedule(note('early'), 10)
    runtime.schedule(note('early too'), 10)
    runtime.schedule(note('never'), 31)
    await runtime.advance(30)
    expect(fired).toEqual([
      ['early', 10],
      ['early too', 10],
      ['late', 30],
    ])
    expect(runtime.pendingTimers).toBe(1)
  })

  test('promises that a timer resolves run their callbacks before the next timer fires', async () => {
    const runtime = createManualRuntime()
    const order: string[] = []
    const consequence = async (): Promise<void> => {
      await Promise.resolve()
      await Promise.resolve()
      order.push('consequence')
      runtime.schedule(() => order.push('timer of the consequence'), 5)
    }
    runtime.schedule(() => void consequence(), 10)
    runtime.schedule(() => order.push('next timer'), 20)
    await runtime.advance(20)
    expect(order).toEqual(['consequence', 'timer of the consequence', 'next timer'])
  })

  test('a cancelled timer does not fire', async () => {
    const runtime = createManualRuntime()
    let fired = false
    runtime.schedule(() => {
      fired = true
    }, 10)()
    await runtime.advance(20)
    expect([fired, runtime.pendingTimers]).toEqual([false, 0])
  })

  test('a timer that sets itself again at once fails the test instead of hanging it', async () => {
    const runtime = createManualRuntime()
    let turns = 0
    const again = (): void => {
      if (++turns < 200_000) runtime.schedule(again, 0)
    }
    again()
    await expect(runtime.advance(1)).rejects.toThrow('sets itself again')
  })

  test('random numbers come from the seed, a function or a list', () => {
    const one = createManualRuntime({ seed: 7 })
    const same = createManualRuntime({ seed: 7 })
    const drawn = Array.from({ length: 100 }, () => one.random())
    expect(Array.from({ length: 100 }, () => same.random())).toEqual(drawn)
    expect(drawn.every((value) => value >= 0 && value < 1)).toBe(true)
    expect(new Set(drawn).size).toBe(100)
    one.setRandom([0.1, 0.9])
    expect([one.random(), one.random(), one.random()]).toEqual([0.1, 0.9, 0.9])
    one.setRandom(() => 0.25)
    expect(one.random()).toBe(0.25)
  })

  test('every token is 22 URL-safe characters that no other runtime hands out', () => {
    const tokens = [createManualRuntime(), createManualRuntime()].flatMap((runtime) => [
      runtime.token(),
      runtime.token(),
    ])
    expect(new Set(tokens).size).toBe(4)
    for (const token of tokens) expect(token).toMatch(/^[\w.-]{22}$/)
    expect(createManualRuntime({ seed: 3 }).token()).toBe(createManualRuntime({ seed: 3 }).token())
  })
})
