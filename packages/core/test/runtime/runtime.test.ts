import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createCache } from '@cattlegrid/core'
import { type Runtime, systemRuntime } from '@cattlegrid/core/extend'

afterEach(() => {
  jest.restoreAllMocks()
})

/** The runtime as another process, or another copy of the package, has it. */
function anotherRuntime(): Runtime {
  let copy: Runtime | undefined
  jest.isolateModules(() => {
    copy = jest.requireActual<{ systemRuntime: Runtime }>('../../src/runtime/runtime.ts').systemRuntime
  })
  if (copy === undefined) throw new Error('The second copy was not loaded')
  return copy
}

describe('a token', () => {
  it('is 22 characters that need no escape in a URL or a key', () => {
    for (let count = 0; count < 1000; count += 1) expect(systemRuntime.token()).toMatch(/^[\w-]{22}$/)
  })

  it('is never given out twice', () => {
    const tokens = Array.from({ length: 100_000 }, () => systemRuntime.token())
    expect(new Set(tokens).size).toBe(tokens.length)
  })

  it('differs from every token of another process', () => {
    const processes = Array.from({ length: 50 }, () => anotherRuntime())
    const tokens = processes.flatMap((runtime) => Array.from({ length: 20 }, () => runtime.token()))
    expect(new Set(tokens).size).toBe(tokens.length)
  })
})

describe('a random number', () => {
  it('lies in [0, 1) and is not always the same', () => {
    const numbers = Array.from({ length: 1000 }, () => systemRuntime.random())
    expect(numbers.filter((number) => number < 0 || number >= 1)).toEqual([])
    expect(new Set(numbers).size).toBeGreaterThan(900)
  })
})

/** Keeps the thread busy, so that no timer gets a turn. */
function spin(ms: number): void {
  const end = systemRuntime.now() + ms
  while (systemRuntime.now() < end);
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done))

describe('the coarse clock', () => {
  it('never runs ahead of the exact one, nor backwards', async () => {
    let last = 0
    for (let count = 0; count < 2000; count += 1) {
      const reading = systemRuntime.coarseNow()
      expect(reading).toBeGreaterThanOrEqual(last)
      expect(reading).toBeLessThanOrEqual(systemRuntime.now())
      last = reading
      if (count % 100 === 0) await turn()
    }
  })

  it('is read again in each tick of the event loop', async () => {
    const { coarseNow, now } = anotherRuntime()
    for (let tick = 0; tick < 10; tick += 1) {
      await turn()
      const before = now()
      expect(coarseNow()).toBeGreaterThanOrEqual(before)
      await Promise.resolve()
      spin(0.1)
      expect(coarseNow()).toBeLessThan(now())
    }
  })

  it('moves on even while no timer gets a turn, before it has been asked 300 times', () => {
    const { coarseNow } = anotherRuntime()
    const before = coarseNow()
    spin(5)
    const readings = Array.from({ length: 300 }, () => coarseNow())
    expect(readings.at(-1)).toBeGreaterThanOrEqual(before + 5)
  })

  it('asks the exact clock for few of its readings', () => {
    const now = jest.spyOn(performance, 'now')
    const { coarseNow } = anotherRuntime()
    for (let count = 0; count < 2000; count += 1) coarseNow()
    expect(now.mock.calls.length).toBeGreaterThan(0)
    expect(now.mock.calls.length).toBeLessThan(200)
  })

  it('sees time pass after a few readings although no timer gets a turn', () => {
    const { coarseNow, now } = anotherRuntime()
    const before = coarseNow()
    const end = now() + 5
    while (now() < end);
    const readings = Array.from({ length: 20 }, () => coarseNow())
    expect(readings.at(-1)).toBeGreaterThan(before)
  })
})

describe('the time of day', () => {
  it('is the one of the host, in milliseconds since 1970', () => {
    const before = Date.now()
    const time = systemRuntime.timeOfDay()
    expect(time).toBeGreaterThanOrEqual(before)
    expect(time).toBeLessThanOrEqual(Date.now())
  })
})

describe('a timer', () => {
  it('runs its action once', async () => {
    const action = jest.fn()
    await new Promise<void>((done) => {
      systemRuntime.schedule(action, 1)
      setTimeout(() => systemRuntime.schedule(done, 1), 20)
    })
    expect(action).toHaveBeenCalledTimes(1)
  })

  it('that is cancelled never runs, and may be cancelled twice or after it ran', async () => {
    const action = jest.fn()
    const cancel = systemRuntime.schedule(action, 1)
    cancel()
    cancel()
    const late = await new Promise<() => void>((done) => {
      const ran = systemRuntime.schedule(() => done(ran), 30)
    })
    late()
    expect(action).not.toHaveBeenCalled()
  })

  it.each([2 ** 31, 2 ** 47, Infinity])('of %d ms, longer than Node counts, does not run at once', (delay) => {
    const set = jest.spyOn(globalThis, 'setTimeout')
    anotherRuntime().schedule(() => {}, delay)()
    expect(set).toHaveBeenCalledWith(expect.any(Function), 2 ** 31 - 1)
  })

  it('keeps no process alive, nor does the coarse clock', async () => {
    const printed = await printedBy(`
      import { systemRuntime } from './packages/core/src/runtime/runtime.ts'
      systemRuntime.schedule(() => console.log('the timer ran'), 600_000)
      systemRuntime.coarseNow()
      console.log('the script is done')`)
    expect(printed).toBe('the script is done\n')
  }, 70_000)

  it('for the drain of a close keeps the process alive: a load that never ends does not end it in its shutdown', async () => {
    const printed = await printedBy(`
      import { createCache } from './packages/core/src/index.ts'
      const cache = createCache({ ttl: '1m' })
      const hangs = (begun) => () => (begun(), new Promise(() => {}))
      await new Promise((begun) => cache.getOrSet('k', hangs(begun)).catch(() => {}))
      await cache.close({ drain: 1000 })
      console.log('closed')`)
    expect(printed).toBe('closed\n')
  }, 70_000)
})

describe('fake timers of a test runner', () => {
  afterEach(() => {
    jest.useRealTimers()
  })

  it('expire no entry, fire no timer of a cache, and stop nothing that it does', async () => {
    const cache = createCache({ ttl: '1m', waitTimeout: '1m' })
    await cache.set('k', 'value')
    jest.useFakeTimers({ now: 0 })
    expect(cache.peek('k')?.value).toBe('value')
    await jest.advanceTimersByTimeAsync(3_600_000)
    jest.setSystemTime(Date.UTC(2100, 0, 1))
    expect(await cache.get('k')).toBe('value')
    const loading = cache.getOrSet('other', () => new Promise((done) => void systemRuntime.schedule(() => done(1), 5)))
    expect(await loading).toBe(1)
    await cache.close()
  })

  it('leave the coarse clock running, while they are there and afterwards', async () => {
    const later = async (): Promise<number> => {
      const before = systemRuntime.coarseNow()
      await new Promise<void>((done) => void systemRuntime.schedule(done, 5))
      return systemRuntime.coarseNow() - before
    }
    systemRuntime.coarseNow()
    jest.useFakeTimers()
    systemRuntime.coarseNow()
    expect(await later()).toBeGreaterThan(3)
    jest.useRealTimers()
    for (let count = 0; count < 3; count += 1) expect(await later()).toBeGreaterThan(3)
  })

  it('of node:test, with its dates, change nothing either', async () => {
    const printed = await printedBy(`
      import { mock } from 'node:test'
      import { createCache } from './packages/core/src/index.ts'
      const cache = createCache({ ttl: '1m' })
      await cache.set('k', 'value')
      mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'setImmediate', 'Date'] })
      mock.timers.tick(3_600_000)
      mock.timers.setTime(4_000_000_000_000)
      const slow = cache.getOrSet('slow', () => new Promise((resolve) => cache.runtime.schedule(() => resolve('loaded'), 5, true)))
      console.log(cache.peek('k')?.value, await cache.get('k'), await slow)`)
    expect(printed).toBe('value value loaded\n')
  }, 70_000)
})

/** What a script prints that runs as a process of its own, and ends by itself. */
async function printedBy(script: string): Promise<string> {
  const cwd = resolve(import.meta.dirname, '../../../..')
  const args = ['--import', '@cattlegrid/run-typescript', '--input-type=module', '--eval', script]
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, timeout: 60_000 })
  return stdout
}
