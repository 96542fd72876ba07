import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { startChild, type Child } from '../src/child.ts'
import { openPool } from '../src/database.ts'
import { hasSchema } from '../src/schema.ts'
import { figures, SMALL, startDemo, type RunningDemo } from './running-demo.ts'

// Express and Fastify, with and without stale answers.
const ALL_FOUR = [1, 2, 3, 4]

let demo: RunningDemo
let postgres: Child

beforeAll(async () => {
  postgres = await startChild('./pglite-server.ts')
})
afterAll(() => postgres?.stop())
afterEach(() => void demo.child.kill('SIGKILL'))

test('ends with one load per expiry for each app, and prints its table alone', async () => {
  demo = startDemo(['--headless', ...SMALL])
  await demo.exited
  expect({ code: demo.child.exitCode, stderr: demo.stderr() }).toEqual({ code: 0, stderr: '' })
  expect(demo.stdout()).toContain('over PGlite: 2 Express and 2 Fastify processes, one Redis')
  expect(figures(demo, 'loads per expiry').slice(1)).toEqual(ALL_FOUR.map(() => '1.00'))
  expect(figures(demo, 'most at once').slice(1)).toEqual(ALL_FOUR.map(() => '1'))
  expect(figures(demo, 'errors').slice(1)).toEqual(ALL_FOUR.map(() => '0'))
  // Every response of the unprotected route waited; with a stale copy only the first ones do.
  expect(figures(demo, 'waited for a load')[0]).toBe(figures(demo, 'requests')[0])
  for (const column of ALL_FOUR) expect(waitedIn(column)).toBeLessThan(requestsIn(column))
})

test('without Redis runs one process with the memory store, and says so; a database that it was given is left as it was', async () => {
  demo = startDemo(['--headless', '--memory', ...SMALL], { DATABASE_URL: postgres.url })
  await demo.exited
  expect({ code: demo.child.exitCode, stderr: demo.stderr() }).toEqual({ code: 0, stderr: '' })
  expect(demo.stdout()).toContain('over Postgres: one Express process, the memory store, no Redis')
  expect(figures(demo, 'loads per expiry').slice(1)).toEqual(['1.00', '1.00'])
  expect(await leftBehind()).toBe(false)
})

test('ends with 1 and says why when answers are not what they should be', async () => {
  // Five reviews rank five products at most, and the load generator looks for ten places.
  demo = startDemo(['--headless', '--memory', '--reviews', '5', '--expiries', '1'], { DATABASE_URL: postgres.url })
  await demo.exited
  expect(demo.child.exitCode).toBe(1)
  expect(demo.stderr()).toMatch(/^Express: \d+ of the requests ended in an error$/m)
  expect(figures(demo, 'errors')[1]).not.toBe('0')
  expect(await leftBehind()).toBe(false)
})

test('ends with 1 and says which option it does not know', async () => {
  demo = startDemo(['--fast'])
  await demo.exited
  expect(demo.child.exitCode).toBe(1)
  expect(demo.stderr()).toContain("Unknown option '--fast'")
})

test('--help says what there is', async () => {
  demo = startDemo(['--help'])
  await demo.exited
  expect({ code: demo.child.exitCode, stderr: demo.stderr() }).toEqual({ code: 0, stderr: '' })
  expect(demo.stdout()).toContain('npm run demo -- --headless')
})

function requestsIn(column: number): number {
  return Number(figures(demo, 'requests')[column]?.replaceAll(',', ''))
}

function waitedIn(column: number): number {
  return Number(figures(demo, 'waited for a load')[column]?.replaceAll(',', ''))
}

async function leftBehind(): Promise<boolean> {
  const pool = openPool(postgres.url, 1)
  const found = await hasSchema(pool)
  await pool.end()
  return found
}
