import { afterEach, describe, expect, test } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { fileURLToPath } from 'node:url'

const DEMO = fileURLToPath(new URL('../src/demo.ts', import.meta.url))
// The full demo in small: fewer reviews to rank, fewer expiries to wait for.
const SMALL = ['--reviews', '20000', '--expiries', '3']
// Express and Fastify, with and without stale answers.
const ALL_FOUR = [1, 2, 3, 4]
const RUN_MS = 150_000

interface Demo {
  readonly child: ChildProcess
  readonly exited: Promise<unknown>
  stdout(): string
  stderr(): string
}

const demos: Demo[] = []

afterEach(() => {
  for (const { child } of demos.splice(0)) child.kill('SIGKILL')
})

/** In a process group of its own, as a shell starts it, so that a test can send what Ctrl-C sends: a signal to the whole group. */
function startDemo(...args: readonly string[]): Demo {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...env } = process.env
  const child = spawn(process.execPath, ['--import', 'tsx', DEMO, ...args], {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  const demo = { child, exited: once(child, 'close'), stdout: () => stdout, stderr: () => stderr }
  demos.push(demo)
  return demo
}

/** Waits until the demo says so, or fails with all that it said. */
async function said(demo: Demo, text: string): Promise<void> {
  for (;;) {
    if (demo.stderr().includes(text)) return
    if (demo.child.exitCode !== null) throw new Error(`the demo ended without "${text}":\n${demo.stderr()}`)
    await pause()
  }
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 50)
  })
}

/** What the demo started, as it says: `Redis is process 4711 at redis://127.0.0.1:6380`. */
function startedBy(demo: Demo): { name: string; pid: number; port: number }[] {
  const found = demo.stderr().matchAll(/(\w+) is process (\d+) at \w+:\/\/\S*127\.0\.0\.1:(\d+)/g)
  return Array.from(found, ([, name = '', pid, port]) => ({ name, pid: Number(pid), port: Number(port) }))
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = createConnection(port, '127.0.0.1')
  const connected = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true))
    socket.once('error', () => resolve(false))
  })
  socket.destroy()
  return connected
}

function figures(demo: Demo, label: string): string[] {
  const line = demo
    .stdout()
    .split('\n')
    .find((text) => text.trim().startsWith(`${label}  `))
  return line?.trim().split(/ {2,}/).slice(1) ?? []
}

describe('the demo', () => {
  test(
    'with Redis ends with one load per expiry over four processes, and prints its table alone',
    async () => {
      const demo = startDemo('--headless', ...SMALL)
      await demo.exited
      expect({ code: demo.child.exitCode, stderr: demo.stderr() }).toEqual({ code: 0, stderr: '' })
      expect(demo.stdout()).toContain('2 Express and 2 Fastify processes, one Redis')
      expect(figures(demo, 'loads per expiry').slice(1)).toEqual(ALL_FOUR.map(() => '1.00'))
      expect(figures(demo, 'most at once').slice(1)).toEqual(ALL_FOUR.map(() => '1'))
      expect(figures(demo, 'errors').slice(1)).toEqual(ALL_FOUR.map(() => '0'))
      const [unprotected = 0, guarded = 0] = figures(demo, 'database queries').map((text) =>
        Number(text.replace(',', '')),
      )
      expect(unprotected).toBeGreaterThanOrEqual(5 * guarded)
      expect(guarded).toBeGreaterThan(3)
    },
    RUN_MS,
  )

  test(
    'without Redis runs one process with the memory store, and says so',
    async () => {
      const demo = startDemo('--headless', '--memory', ...SMALL)
      await demo.exited
      expect({ code: demo.child.exitCode, stderr: demo.stderr() }).toEqual({ code: 0, stderr: '' })
      expect(demo.stdout()).toContain('no Redis, hence one Express process with the memory store')
      expect(figures(demo, 'loads per expiry').slice(1)).toEqual(['1.00', '1.00'])
    },
    RUN_MS,
  )

  test(
    'ends with 1 and says why when answers are not what they should be',
    async () => {
      // Five reviews rank five products at most, and the load generator looks for ten places.
      const demo = startDemo('--headless', '--memory', '--reviews', '5', '--expiries', '1')
      await demo.exited
      expect(demo.child.exitCode).toBe(1)
      expect(demo.stderr()).toMatch(/^Express: \d+ of the requests ended in an error$/m)
      expect(figures(demo, 'errors')[1]).not.toBe('0')
    },
    RUN_MS,
  )

  test('ends with 1 and says which option it does not know', async () => {
    const demo = startDemo('--fast')
    await demo.exited
    expect(demo.child.exitCode).toBe(1)
    expect(demo.stderr()).toContain("Unknown option '--fast'")
  })
})

describe('what the demo started is gone', () => {
  test.each([
    { how: 'Ctrl-C', signal: 'SIGINT', group: true, code: 130 },
    { how: 'SIGTERM to the demo alone', signal: 'SIGTERM', group: false, code: 143 },
  ] as const)(
    'after $how',
    async ({ signal, group, code }) => {
      const demo = startDemo(...SMALL)
      await said(demo, 'driving /strict/ranking')
      const started = startedBy(demo)
      expect(started.map(({ name }) => name)).toEqual(['PGlite', 'Redis', 'express', 'express', 'fastify', 'fastify'])
      expect(started.filter(({ pid }) => !isAlive(pid))).toEqual([])

      const { pid = 0 } = demo.child
      process.kill(group ? -pid : pid, signal)
      await demo.exited
      expect(demo.child.exitCode).toBe(code)
      expect(demo.stdout()).toBe('')
      expect(started.filter((process) => isAlive(process.pid))).toEqual([])
    },
    RUN_MS,
  )

  test(
    'after a signal while it was still seeding',
    async () => {
      const demo = startDemo(...SMALL)
      await said(demo, 'PGlite is process')
      const started = startedBy(demo)
      demo.child.kill('SIGINT')
      await demo.exited
      expect(demo.child.exitCode).toBe(130)
      expect(started.filter(({ pid }) => isAlive(pid))).toEqual([])
    },
    RUN_MS,
  )

  test(
    'soon after the demo was killed and could clean up nothing',
    async () => {
      const demo = startDemo(...SMALL)
      await said(demo, 'driving /unprotected/ranking')
      const started = startedBy(demo)
      expect(started).toHaveLength(6)
      demo.child.kill('SIGKILL')
      await once(demo.child, 'exit')
      // They notice that nobody holds the other end of their channel any more.
      for (const { port } of started) while (await answers(port)) await pause()
    },
    RUN_MS,
  )
})
