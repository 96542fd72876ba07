import { describe, expect, it } from '@jest/globals'
import { limitThatFollows } from '../../src/policy/load-limit.ts'
import type { LoadLimit, LoadWindow } from '../../src/policy/policy.ts'

const { first: firstLoadLimit, next: nextLimit } = limitThatFollows

/** A source whose loads take 100 ms, which was flat at 10 at once. */
const calm: LoadLimit = { ...firstLoadLimit, limit: 10, base: 100, flat: 10, growth: 1.05 }

function loads(count: number, took: number): number[] {
  return Array.from({ length: count }, () => took)
}

function full(took: number, change: Partial<LoadWindow> = {}): LoadWindow {
  return { times: loads(64, took), ages: [], running: 10, bound: true, ...change }
}

describe('a window', () => {
  it('stays open until half of a round of loads began', () => {
    const state = { ...calm, limit: 40 }
    expect(nextLimit(state, full(100, { times: loads(19, 100), running: 40 }))).toBeUndefined()
    expect(nextLimit(state, full(100, { times: loads(20, 100), running: 40 }))?.limit).toBe(42)
  })

  it('lets the limit grow only when half of its loads ended: the fast ones end first', () => {
    expect(nextLimit(calm, full(100, { times: loads(8, 100), ages: loads(9, 20) }))).toBeUndefined()
    expect(nextLimit(calm, full(100, { times: loads(9, 100), ages: loads(8, 20) }))?.limit).toBe(11)
  })

  it('stays open while young loads may still move a median that is not flat', () => {
    const times = [...loads(16, 120), ...loads(17, 150)]
    expect(nextLimit(calm, full(0, { times, ages: loads(31, 20) }))).toBeUndefined()
    expect(nextLimit(calm, full(0, { times, ages: loads(31, 150) }))?.limit).toBe(10 / 1.05)
  })

  it('stays open while running loads may still prove a queue: the median alone does not', () => {
    expect(nextLimit(calm, full(0, { times: loads(35, 200), ages: loads(29, 20) }))).toBeUndefined()
    expect(nextLimit(calm, full(0, { times: loads(64, 200) }))?.tested).toBe(200)
  })

  it('is dropped while loads from before a cut still fill the source', () => {
    const next = nextLimit(calm, full(400, { running: 12 }))
    expect(next).toEqual(calm)
  })
})

describe('the limit', () => {
  it('takes no load of less than 5 ms for slow: its own process may take longer than it', () => {
    const known = nextLimit(firstLoadLimit, full(0.1, { running: 12 }))
    expect(known?.limit).toBe(24)
    expect(nextLimit(known ?? firstLoadLimit, full(4, { running: 24 }))?.limit).toBe(48)
  })

  it('doubles from the start; after a sign of a queue it grows by a fifth, and then by less each time, down to a twentieth', () => {
    let state = nextLimit(firstLoadLimit, full(100, { running: 12 }))
    expect(state).toMatchObject({ limit: 24, base: 100, flat: 12 })
    state = state && nextLimit({ ...state, flat: 20 }, full(200, { running: 24 }))
    expect(state?.limit).toBe(18)
    const grown: number[] = []
    for (let window = 0; window < 4 && state !== undefined; window += 1) {
      const before = state.limit
      state = nextLimit({ ...state, limit: 100 * before }, full(100, { running: 10 }))
      grown.push(Math.round((1000 * (state?.limit ?? 0)) / (100 * before)) / 1000)
    }
    expect(grown).toEqual([1.2, 1.095, 1.05, 1.05])
  })

  it('grows by one at least', () => {
    expect(nextLimit({ ...calm, limit: 2 }, full(100, { running: 2 }))?.limit).toBe(3)
  })

  it('stays as it is while no load waits for it', () => {
    expect(nextLimit(calm, full(100, { bound: false }))?.limit).toBe(10)
    expect(nextLimit(calm, full(160, { bound: false }))?.limit).toBe(10)
  })

  it('grows no more while loads are a little slow: by a third, or by 75 ms', () => {
    expect(nextLimit(calm, full(129))?.limit).toBe(11)
    expect(nextLimit(calm, full(0, { times: [...loads(30, 100), ...loads(34, 150)] }))?.limit).toBe(10)
    const slow = { ...calm, base: 600 }
    expect(nextLimit(slow, full(670))?.limit).toBe(11)
    expect(nextLimit(slow, full(0, { times: [...loads(30, 600), ...loads(34, 680)] }))?.limit).toBe(10)
  })

  it('goes down by a twentieth while loads are surely a little slow, to 0.9 times the last flat limit', () => {
    expect(nextLimit({ ...calm, limit: 21 }, full(150, { running: 21 }))?.limit).toBe(20)
    expect(nextLimit({ ...calm, limit: 9.3 }, full(150))?.limit).toBe(9)
    expect(nextLimit({ ...calm, limit: 9 }, full(150, { running: 9 }))).toMatchObject({ limit: 9, fullFor: 1 })
    expect(nextLimit({ ...calm, limit: 21 }, full(150, { running: 5 }))?.limit).toBe(21)
  })

  it('goes down by no whole load below the last flat limit where that is small', () => {
    const few: LoadLimit = { ...calm, limit: 4.7, flat: 3.7 }
    expect(nextLimit({ ...few, limit: 3.1 }, full(150, { running: 3 }))?.limit).toBe(3)
    expect(nextLimit({ ...few, limit: 3 }, full(150, { running: 3 }))?.limit).toBe(3)
    expect(nextLimit(few, full(300, { running: 4.7 }))?.limit).toBe(3)
    expect(nextLimit({ ...few, limit: 1.05, flat: 1 }, full(150, { running: 1 }))?.limit).toBe(1)
  })

  it('goes back below the last flat limit when its own growth made loads slow', () => {
    expect(nextLimit({ ...calm, limit: 15 }, full(200, { running: 15 }))).toMatchObject({ limit: 9, base: 100 })
  })

  it('is halved as a test when loads are slow where they were flat', () => {
    expect(nextLimit(calm, full(200))).toMatchObject({ limit: 5, tested: 200 })
  })

  it('is not halved for loads that end less than 35 ms late: their own process may be busy', () => {
    const fast = { ...calm, base: 20, flat: 10 }
    expect(nextLimit(fast, full(54))?.tested).toBeUndefined()
    expect(nextLimit(fast, full(55))).toMatchObject({ limit: 5, tested: 55 })
  })

  it('is cut on the ages of loads that do not end', () => {
    expect(nextLimit(calm, full(0, { times: [], ages: loads(10, 200) }))?.limit).toBe(5)
  })

  it('is not cut on a few slow loads among others', () => {
    expect(nextLimit(calm, full(0, { times: [...loads(44, 100), ...loads(20, 10_000)] }))?.limit).toBe(11)
    expect(nextLimit(calm, full(0, { times: [90, 90, 250, 250, 250] }))).toBeUndefined()
  })

  it('is not cut while few loads run: they are slow for another reason', () => {
    expect(nextLimit(calm, full(200, { running: 5 }))?.limit).toBe(10)
  })

  it('stays at 1, and what a load takes there is the base', () => {
    expect(nextLimit({ ...calm, limit: 1 }, full(500, { running: 1 }))).toMatchObject({ limit: 1, base: 500 })
  })
})

describe('a test of the limit', () => {
  const halved: LoadLimit = { ...calm, limit: 5, tested: 200 }

  it('leaves the limit low when loads became faster', () => {
    const next = nextLimit(halved, full(140, { running: 5 }))
    expect(next).toMatchObject({ limit: 5, base: 100, tested: undefined })
  })

  it('takes the cut back when loads are as slow as before: the source itself is slower', () => {
    expect(nextLimit(halved, full(200, { running: 5 }))).toMatchObject({
      limit: 10,
      base: 200,
      flat: 10,
      tested: undefined,
    })
  })

  it('goes on while a few samples do not tell', () => {
    expect(nextLimit(halved, full(0, { times: [120, 120, 200, 200, 200], running: 5 }))).toBeUndefined()
  })

  it('comes after five full windows in which a load waited, and finds a base that was too high', () => {
    const stuck = { ...calm, base: 300, fullFor: 4 }
    const test = nextLimit(stuck, full(300))
    expect(test).toMatchObject({ limit: 5, tested: 300 })
    expect(test && nextLimit(test, full(150, { running: 5 }))?.base).toBe(150)
    expect(nextLimit({ ...stuck, fullFor: 3 }, full(300))?.limit).toBe(11)
    expect(nextLimit(stuck, full(300, { bound: false }))).toMatchObject({ limit: 10, fullFor: 0 })
  })

  it('comes twice as late after each one in vain, up to 640 windows, and as early as the first after one that has helped', () => {
    const waits: (number | undefined)[] = []
    for (let test = 0; test < 9; test += 1)
      waits.push(nextLimit({ ...halved, testAfter: waits.at(-1) }, full(200, { running: 5 }))?.testAfter)
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 640, 640, 640])
    expect(nextLimit({ ...calm, testAfter: 10, fullFor: 8 }, full(140))).toMatchObject({ limit: 10 / 1.05, fullFor: 9 })
    expect(nextLimit({ ...calm, testAfter: 10, fullFor: 9 }, full(140))?.tested).toBe(140)
    expect(nextLimit({ ...halved, testAfter: 640 }, full(140, { running: 5 }))?.testAfter).toBeUndefined()
  })
})

describe('the base', () => {
  it('is proven by a test in vain: from then on windows in which loads take as long as it do not lead to a test', () => {
    expect(nextLimit({ ...calm, testAfter: 10, fullFor: 9 }, full(100))).toMatchObject({ limit: 11, fullFor: 0 })
    expect(nextLimit({ ...calm, fullFor: 4 }, full(100))?.tested).toBe(100)
  })

  it.each([80, 160])('follows the source while the limit is not full: %d ms', (took) => {
    expect(nextLimit(calm, full(took, { running: 5 }))?.base).toBe(100 + (took - 100) / 4)
  })

  it('does not rise while the limit is full, or a standing overload would become the norm', () => {
    expect(nextLimit(calm, full(120))?.base).toBe(100)
    expect(nextLimit(calm, full(80))?.base).toBe(95)
  })
})

it('the state survives JSON, as a store keeps it', () => {
  const states = [
    firstLoadLimit,
    nextLimit(calm, full(200)),
    nextLimit({ ...calm, limit: 1 }, full(500, { running: 1 })),
  ]
  for (const state of states) expect(JSON.parse(JSON.stringify(state))).toEqual(state)
})
