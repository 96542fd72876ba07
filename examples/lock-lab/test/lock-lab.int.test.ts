import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { call, LOCK, redis } from '../src/command.ts'
import { counters, tryCounter } from '../src/counter.ts'
import { counterSurprises, surprises } from '../src/expectation.ts'
import { type LockReport, runLab } from '../src/lab.ts'
import type { Lock } from '../src/lock.ts'
import { locks } from '../src/locks/all.ts'
import { cattlegrid } from '../src/locks/cattlegrid.ts'
import { getThenSet } from '../src/locks/get-then-set.ts'
import { setNxDel } from '../src/locks/set-nx-del.ts'
import { tokenCompareAndDelete } from '../src/locks/token-compare-and-delete.ts'
import { paintFor } from '../src/paint.ts'
import { printTable } from '../src/print-lab.ts'
import { properties } from '../src/properties/all.ts'
import { PROPERTY_NAMES, type PropertyName } from '../src/property-name.ts'
import { type Trial, tryLock } from '../src/trial.ts'
import { openWorlds, type Worlds } from '../src/worlds/worlds.ts'

const RUN_MS = 120_000
const TOLD = ['a', 'b', 'c', 'd', 'd2', 'e1', 'e2', 'e3', 'e4', 'f', 'g', 'h1', 'h2', 'h3', 'h4']

let worlds: Worlds
let reports: readonly LockReport[]
let counted: Awaited<ReturnType<typeof runLab>>['counters']

beforeAll(async () => {
  worlds = await openWorlds()
  const run = await runLab(locks, counters, worlds, { lock: () => undefined, counter: () => undefined })
  reports = run.locks
  counted = run.counters
}, RUN_MS)

afterAll(async () => {
  await worlds.stop()
}, RUN_MS)

function reportOf(lock: Lock): LockReport {
  const report = reports.find((one) => one.lock === lock)
  if (report === undefined) throw new Error(`${lock.name} was not tried`)
  return report
}

function verdictsOf(lock: Lock): Record<string, string> {
  return Object.fromEntries(reportOf(lock).trials.map(({ property, trial }) => [property.name, trial.verdict]))
}

/** Puts one property to one lock, apart from the run. */
async function put(name: PropertyName, lock: Lock): Promise<{ trial: Trial; surprises: string[] }> {
  const property = properties.find((one) => one.name === name)
  const world = property && worlds[property.world]
  if (property === undefined || world === undefined) throw new Error(`${name} cannot be played here`)
  const trial = await tryLock(lock, property, world, worlds.freshName)
  return { trial, surprises: surprises(lock, property, trial) }
}

describe('the lab', () => {
  test('puts every property to every lock, the faults of servers included', () => {
    expect(worlds.missing).toBeUndefined()
    for (const { trials } of reports) expect(trials.map(({ property }) => property.name)).toEqual(PROPERTY_NAMES)
  })

  test('tells each folklore failure once, and every lock but cattlegrid has one', () => {
    expect(locks.flatMap(({ told }) => told.map(({ id }) => id))).toEqual(TOLD)
    expect(locks.filter(({ told }) => told.length === 0)).toEqual([cattlegrid])
  })

  test.each(locks.map((lock) => ({ id: lock.id, name: lock.name, lock })))(
    'finds that $id ($name) breaks in exactly the way that is told of it',
    ({ lock }) => {
      expect(reportOf(lock).trials.flatMap((one) => one.surprises)).toEqual([])
    },
  )

  test('finds that cattlegrid keeps every property', () => {
    expect(Object.values(verdictsOf(cattlegrid))).toEqual(PROPERTY_NAMES.map(() => 'kept'))
  })

  test('finds a folklore lock that breaks it for every property, so none of them passes whatever it is given', () => {
    const broken = reports.flatMap(({ trials }) => trials.filter(({ trial }) => trial.verdict === 'broken'))
    expect(new Set(broken.map(({ property }) => property.name))).toEqual(new Set(PROPERTY_NAMES))
  })

  test('prints the table that its README shows', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    expect(readme).toContain(printTable(reports, paintFor(false)).trim())
  })

  test('leaves out, and marks so, what cannot happen for want of servers', async () => {
    const audience = { lock: () => undefined, counter: () => undefined }
    const run = await runLab([setNxDel], [], { ...worlds, own: undefined, pair: undefined }, audience)
    expect(run.locks.flatMap(({ trials }) => trials.flatMap((one) => one.surprises))).toEqual([])
    const lines = printTable(run.locks, paintFor(false)).split('\n')
    const leftOut = lines.filter((line) => /^ {2}\w.* \?$/.test(line)).map((line) => line.replace('?', '').trim())
    expect(leftOut).toEqual(['lock evicted', 'server restarted', 'failover'])
  })

  test('loses an increment by GET and SET, and none by INCR', () => {
    expect(counted.flatMap((one) => one.surprises)).toEqual([])
    expect(counted.map((one) => one.counted.sum)).toEqual([1, 2])
  })
})

describe('a run that comes out otherwise than told is red', () => {
  test('when a folklore lock passes after all', async () => {
    const cured: Lock = { ...setNxDel, acquire: tokenCompareAndDelete.acquire, release: tokenCompareAndDelete.release }
    const { surprises: found } = await put('foreign release', cured)
    expect(found).toContain(
      'c: "foreign release" is told as broken, and was kept: what A releases is not the lock of B',
    )
  })

  test('when a lock that should pass breaks', async () => {
    const careless: Lock = { ...tokenCompareAndDelete, release: setNxDel.release }
    const { surprises: found } = await put('foreign release', careless)
    expect(found).toEqual(['h: "foreign release" is told as kept, and was broken: B and C hold the lock at once'])
  })

  test('when a lock breaks by other steps than those that are told', async () => {
    const { surprises: found } = await put('two concurrent callers', {
      ...getThenSet,
      *acquire() {
        yield redis('SET', LOCK, 'mine')
        return true
      },
    })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(/^f: step 1 is told as \["A","GET lock",null\], and was /)
  })

  test('when a reply is another than the one that is told', async () => {
    const [told] = setNxDel.told
    const steps = told?.steps.map((step) => (step[1] === 'DEL lock' ? ([step[0], step[1], 0] as const) : step)) ?? []
    const { surprises: found } = await put('foreign release', { ...setNxDel, told: told ? [{ ...told, steps }] : [] })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(/^c: step 4 is told as \["A","DEL lock",0\], and was /)
  })

  test('when a counter counts right where it is told to lose', async () => {
    const [lossy, exact] = counters
    if (lossy === undefined || exact === undefined) throw new Error('two counters are told')
    const cured = { ...lossy, increment: exact.increment }
    const sum = await tryCounter(cured, worlds.shared.connections, worlds.freshName)
    expect(counterSurprises(cured, sum)).toContain(
      'counter-get-set: told as "two increments made 1", and was "two increments made 2"',
    )
  })
})

describe('cattlegrid keeps a property by the part that is there for it', () => {
  const unfenced: Lock = {
    ...cattlegrid,
    *write(_caller, value) {
      const entry = { value, ttl: 60_000, staleWhileRevalidate: 0, staleIfError: 0, loadTime: 1, tags: [] }
      yield call('put', ({ store }) => store.put('entry', entry, json))
    },
  }

  test.each(['late write', 'write after invalidation', 'lock evicted', 'server restarted', 'failover'] as const)(
    'it would break "%s" if it wrote without its lease',
    async (name) => {
      expect((await put(name, unfenced)).trial.verdict).toBe('broken')
    },
  )

  test('it would break "double check" if it did not compare what the caller has seen', async () => {
    const blind: Lock = {
      ...cattlegrid,
      *acquire(caller) {
        yield* cattlegrid.read(caller)
        return yield* cattlegrid.acquire(caller)
      },
    }
    expect((await put('double check', blind)).trial.verdict).toBe('broken')
  })
})
