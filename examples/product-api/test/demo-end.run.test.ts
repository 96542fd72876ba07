import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild, type Child } from '../src/child.ts'
import { openPool } from '../src/database.ts'
import { hasSchema } from '../src/schema.ts'
import { RUN_MS, said, SMALL, startDemo, startedBy, type RunningDemo } from './running-demo.ts'

let demo: RunningDemo
let postgres: Child

beforeAll(async () => {
  postgres = await startChild('./pglite-server.ts')
}, 60_000)
afterAll(() => postgres?.stop())
afterEach(() => void demo.child.kill('SIGKILL'))

test(
  'Ctrl-C leaves no process behind, and nothing in a database that it was given',
  async () => {
    demo = startDemo(SMALL, postgres.url)
    await said(demo, 'driving /unprotected/ranking')
    const started = startedBy(demo)
    expect(started.map(({ name }) => name)).toEqual(['Redis', 'express', 'express', 'fastify', 'fastify'])
    expect(started.filter(({ pid }) => !isAlive(pid))).toEqual([])

    process.kill(-(demo.child.pid ?? 0), 'SIGINT')
    await demo.exited
    expect({ code: demo.child.exitCode, stdout: demo.stdout() }).toEqual({ code: 130, stdout: '' })
    expect(started.filter(({ pid }) => isAlive(pid))).toEqual([])
    const pool = openPool(postgres.url, 1)
    expect(await hasSchema(pool)).toBe(false)
    await pool.end()
  },
  RUN_MS,
)

test(
  'SIGTERM to the demo alone while it is still seeding leaves no process behind',
  async () => {
    demo = startDemo(SMALL)
    await said(demo, 'PGlite is process')
    const started = startedBy(demo)
    expect(started.map(({ name }) => name)).toEqual(['PGlite'])
    demo.child.kill('SIGTERM')
    await demo.exited
    expect(demo.child.exitCode).toBe(143)
    expect(started.filter(({ pid }) => isAlive(pid))).toEqual([])
  },
  RUN_MS,
)

test(
  'a demo that was killed, and could clean up nothing, is soon followed by all that it started',
  async () => {
    demo = startDemo(SMALL)
    await said(demo, 'driving /unprotected/ranking')
    const started = startedBy(demo)
    expect(started).toHaveLength(6)
    demo.child.kill('SIGKILL')
    await once(demo.child, 'exit')
    // They notice that their channel to the demo is closed. Orphans may stay zombies, so the test asks their ports, not their pids.
    for (const { port } of started) while (await answers(port)) await sleep(50)
  },
  RUN_MS,
)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
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
