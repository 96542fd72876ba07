import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { json } from '@cattlegrid/core'
import { call, LOCK, redis } from '../src/caller.ts'
import { checkCounter, type CounterReport, counters } from '../src/counter.ts'
import { folkloreFailures } from '../src/index.ts'
import { checkLock, checkProperty, type LockReport, type PropertyReport } from '../src/lab.ts'
import { type Lock, PROPERTY_NAMES, type PropertyName } from '../src/lock.ts'
import { locks } from '../src/locks/all.ts'
import { cattlegrid } from '../src/locks/cattlegrid.ts'
import { compareAndDelete } from '../src/locks/token.ts'
import { getThenSet, setNxPxDel } from '../src/locks/without-token.ts'
import { properties } from '../src/properties.ts'
import { plain, printTable } from '../src/report.ts'
import { type LabServers, openServers } from '../src/servers.ts'

const RUN_MS = 120_000
const FAILURES = ['a', 'b', 'c', 'd', 'd2', 'e1', 'e2', 'e3', 'e4', 'f', 'g', 'h1', 'h2', 'h3', 'h4']

let servers: LabServers
const reports: LockReport[] = []
const counted: CounterReport[] = []

beforeAll(async () => {
  servers = await openServers()
  for (const lock of locks) reports.push(await checkLock(lock, servers))
  for (const counter of counters) counted.push(await checkCounter(counter, servers))
}, RUN_MS)

afterAll(async () => {
  await servers.stop()
}, RUN_MS)

function reportOf(lock: Lock): LockReport {
  const report = reports.find((one) => one.lock === lock)
  if (report === undefined) throw new Error(`${lock.name} was not checked`)
  return report
}

/** Checks one property on a lock that is not part of the lab. */
async function check(name: PropertyName, lock: Lock): Promise<PropertyReport> {
  const property = properties.find((one) => one.name === name)
  const server = servers[property?.server ?? 'shared']
  if (property === undefined || server === undefined) throw new Error(`${name} cannot be checked here`)
  return await checkProperty(lock, property, server, servers.newNamespace)
}

describe('the lab', () => {
  test('checks every property on every lock, with the faults of servers', () => {
    expect(servers.missing).toBeUndefined()
    for (const report of reports) expect(report.properties.map(({ property }) => property.name)).toEqual(PROPERTY_NAMES)
  })

  test('knows each folklore failure once, and one of every lock but cattlegrid', () => {
    expect(locks.flatMap(({ failures }) => failures.map(({ id }) => id))).toEqual(FAILURES)
    expect(locks.filter(({ failures }) => failures.length === 0)).toEqual([cattlegrid])
  })

  test('marks in each failure the command of a caller that breaks the property', () => {
    const marked = folkloreFailures.map(({ id, breaksAt, steps }) => ({ id, who: steps[breaksAt - 1]?.who }))
    expect(marked.map(({ id }) => id)).toEqual(FAILURES)
    expect(marked.filter(({ who }) => who !== 'A' && who !== 'B' && who !== 'C')).toEqual([])
  })

  test.each(locks.map((lock) => ({ id: lock.id, name: lock.name, lock })))(
    'finds that $id ($name) breaks exactly as its file says',
    ({ lock }) => {
      expect(reportOf(lock).properties.flatMap((one) => one.unexpected)).toEqual([])
    },
  )

  test('finds that cattlegrid keeps every property', () => {
    const verdicts = reportOf(cattlegrid).properties.map(({ verdict }) => verdict)
    expect(verdicts).toEqual(PROPERTY_NAMES.map(() => 'kept'))
  })

  test('finds for every property a folklore lock that breaks it, so no property passes on every lock', () => {
    const broken = reports.flatMap((report) => report.properties.filter(({ verdict }) => verdict === 'broken'))
    expect(new Set(broken.map(({ property }) => property.name))).toEqual(new Set(PROPERTY_NAMES))
  })

  test('prints the table that its README shows', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    expect(readme).toContain(printTable(reports, plain).trim())
  })

  test('leaves out, and marks so, what needs a server that could not be started', async () => {
    const report = await checkLock(setNxPxDel, { ...servers, own: undefined, pair: undefined })
    expect(report.properties.flatMap((one) => one.unexpected)).toEqual([])
    const lines = printTable([report], plain).split('\n')
    const leftOut = lines.filter((line) => /^ {2}\w.* \?$/.test(line)).map((line) => line.replace('?', '').trim())
    expect(leftOut).toEqual(['lock evicted', 'server restarted', 'failover'])
  })

  test('loses an increment by GET and SET, and none by INCR', () => {
    expect(counted.flatMap((one) => one.unexpected)).toEqual([])
    expect(counted.map((one) => one.sum)).toEqual([1, 2])
  })
})

describe('a result other than the expected one is red', () => {
  test('when a folklore lock passes after all', async () => {
    const cured: Lock = { ...setNxPxDel, acquire: compareAndDelete.acquire, release: compareAndDelete.release }
    const { unexpected: found } = await check('foreign release', cured)
    expect(found).toContain('c: "foreign release" should be broken, and was kept: what A releases is not the lock of B')
  })

  test('when a lock that should pass breaks', async () => {
    const careless: Lock = { ...compareAndDelete, release: setNxPxDel.release }
    const { unexpected: found } = await check('foreign release', careless)
    expect(found).toEqual(['h: "foreign release" should be kept, and was broken: B and C hold the lock at once'])
  })

  test('when a lock breaks by other steps than the expected ones', async () => {
    const { unexpected: found } = await check('two concurrent callers', {
      ...getThenSet,
      *acquire() {
        yield redis('SET', LOCK, 'mine')
        return true
      },
    })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(/^f: step 1 should be \["A","GET lock",null\], and was /)
  })

  test('when a reply is another than the expected one', async () => {
    const failures = setNxPxDel.failures.map((failure) => ({
      ...failure,
      steps: failure.steps.map((step) => (step[1] === 'DEL lock' ? ([step[0], step[1], 0] as const) : step)),
    }))
    const { unexpected: found } = await check('foreign release', { ...setNxPxDel, failures })
    expect(found).toHaveLength(1)
    expect(found[0]).toMatch(/^c: step 4 should be \["A","DEL lock",0\], and was /)
  })

  test('when a counter counts right where it should lose', async () => {
    const [lossy, exact] = counters
    if (lossy === undefined || exact === undefined) throw new Error('there are two counters')
    const cured = { ...lossy, increment: exact.increment }
    expect((await checkCounter(cured, servers)).unexpected).toContain(
      'counter-get-set: should end with "two increments made 1", and ended with "two increments made 2"',
    )
  })
})

describe('cattlegrid keeps a property by one part of its protocol', () => {
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
      expect((await check(name, unfenced)).verdict).toBe('broken')
    },
  )

  test('it would break "double check" if it did not compare the version that the caller has seen', async () => {
    const blind: Lock = {
      ...cattlegrid,
      *acquire(caller) {
        yield* cattlegrid.read(caller)
        return yield* cattlegrid.acquire(caller)
      },
    }
    expect((await check('double check', blind)).verdict).toBe('broken')
  })
})
