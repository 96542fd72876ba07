import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild, type Child } from '../src/child.ts'
import { openPool } from '../src/database.ts'
import { hasSchema } from '../src/schema.ts'
import { until } from '../../../test/support/until.ts'
import { familyOf, stateOf } from './process-state.ts'
import { pageOf, said, SMALL, startDemo, startedBy, type RunningDemo } from './running-demo.ts'

let demo: RunningDemo
let postgres: Child

beforeAll(async () => {
  postgres = await startChild('./pglite-server.ts')
})
afterAll(() => postgres?.stop())
afterEach(() => void demo.child.kill('SIGKILL'))

// The API starts in the same turn as PGlite.
test.each(['starting Redis', 'starting PGlite', 'PGlite is process'])(
  'Ctrl-C while the demo says "%s" leaves no process behind',
  async (text) => {
    // So many that the demo is not ready before it is interrupted.
    demo = startDemo(['--reviews', '200000'])
    await said(demo, text)
    const started = familyOf(demo.child.pid ?? 0)
    interrupt()
    await demo.exited
    expect({ code: demo.child.exitCode, stdout: demo.stdout(), stderr: demo.stderr() }).toEqual({
      code: 130,
      stdout: '',
      stderr: expect.stringMatching(/^interrupted by SIGINT$/m),
    })
    await allEnded([...started, ...familyOf(demo.child.pid ?? 0)])
  },
)

test('Ctrl-C is how the page ends: no process is left, no file, and nothing in a database that it was given', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'demo-end-'))
  demo = startDemo([], { DATABASE_URL: postgres.url, TMPDIR: folder })
  const url = await pageOf(demo)
  void pressFlush(url)
  // Eight processes, Redis, the shell that ends Redis if the demo cannot, and four processes of the flush.
  await until(() => familyOf(demo.child.pid ?? 0).length >= 14)
  const started = familyOf(demo.child.pid ?? 0)
  expect(await answers(Number(new URL(url).port))).toBe(true)

  interrupt()
  await demo.exited
  expect({ code: demo.child.exitCode, complaints: demo.stderr().match(/error/gi) }).toEqual({
    code: 0,
    complaints: null,
  })
  await allEnded(started)
  const pool = openPool(postgres.url, 1)
  expect(await hasSchema(pool)).toBe(false)
  await pool.end()
  expect(await readdir(folder)).toEqual([])
  await rm(folder, { recursive: true })
})

test('SIGTERM to the demo alone while it measures its table leaves no process behind', async () => {
  demo = startDemo(['--memory', ...SMALL])
  await said(demo, 'driving /unprotected/ranking')
  const started = startedBy(demo)
  expect(started.map(({ name }) => name)).toEqual(['PGlite', 'express'])
  demo.child.kill('SIGTERM')
  await demo.exited
  expect(demo.child.exitCode).toBe(143)
  await allEnded(started.map(({ pid }) => pid))
})

test('a demo that was killed, and could clean up nothing, is soon followed by all that it started', async () => {
  demo = startDemo([])
  await pageOf(demo)
  const started = startedBy(demo)
  expect(started).toHaveLength(10)
  demo.child.kill('SIGKILL')
  await once(demo.child, 'exit')
  // They notice that their channel to the demo is closed. Orphans may stay zombies, so the test asks their ports, not their pids.
  for (const { port } of started) await until(async () => !(await answers(port)))
})

/** Its answer comes when the fleets have ended, so not before the demo does. */
async function pressFlush(url: string): Promise<void> {
  const page = await (await fetch(url)).text()
  const token = /name="demo-token" content="([\w-]+)"/.exec(page)?.[1] ?? ''
  const headers = { origin: new URL(url).origin, 'x-demo-token': token }
  await fetch(`${url}/actions/flush`, { method: 'POST', headers }).catch(() => undefined)
}

/** As the terminal does: to the whole group. */
function interrupt(): void {
  process.kill(-(demo.child.pid ?? 0), 'SIGINT')
}

/** The shell that ends Redis if the demo cannot ends by itself, a moment after the demo. */
async function allEnded(pids: readonly number[]): Promise<void> {
  await until(
    () => pids.every((pid) => stateOf(pid) === ''),
    () => pids.filter((pid) => stateOf(pid) !== '').join(', '),
  )
}

async function answers(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1')
  const connected = await Promise.race([
    once(socket, 'connect').then(() => true),
    new Promise<boolean>((resolve) => socket.once('error', () => resolve(false))),
  ]).catch(() => false)
  socket.destroy()
  return connected
}
