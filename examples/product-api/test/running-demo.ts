import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const DEMO = fileURLToPath(new URL('../src/demo.ts', import.meta.url))

/** The table with fewer reviews to rank and fewer expiries to wait for. */
export const SMALL: readonly string[] = ['--reviews', '20000', '--expiries', '2']

export interface Started {
  readonly name: string
  readonly pid: number
  readonly port: number
}

export interface RunningDemo {
  readonly child: ChildProcess
  /** Settles when it has ended and its output has been read. */
  readonly exited: Promise<unknown>
  readonly stdout: () => string
  readonly stderr: () => string
}

/** Starts it in its own process group, as a shell does, so that a test can signal the whole group, as Ctrl-C does. */
export function startDemo(args: readonly string[], given: Readonly<Record<string, string>> = {}): RunningDemo {
  const { DATABASE_URL: _database, REDIS_URL: _redis, ...env } = process.env
  const child = spawn(process.execPath, ['--import', '@cattlegrid/run-typescript', DEMO, ...args], {
    env: { ...env, ...given },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  return { child, exited: once(child, 'close'), stdout: () => stdout, stderr: () => stderr }
}

/** Waits until the demo prints `text` to stderr, or fails with what it printed. */
export async function said(demo: RunningDemo, text: string): Promise<void> {
  while (!demo.stderr().includes(text)) {
    if (demo.child.exitCode !== null) throw new Error(`the demo ended without "${text}":\n${demo.stderr()}`)
    await sleep(50)
  }
}

/** Waits until the page is served; returns its address. */
export async function pageOf(demo: RunningDemo): Promise<string> {
  for (;;) {
    const url = /The page is at (\S+)/.exec(demo.stdout())?.[1]
    if (url !== undefined) return url
    if (demo.child.exitCode !== null) throw new Error(`the demo ended without a page:\n${demo.stderr()}`)
    await sleep(50)
  }
}

/** The processes that the demo started, by its lines such as `Redis is process 4711 at redis://127.0.0.1:6380`. */
export function startedBy(demo: RunningDemo): Started[] {
  const found = demo.stderr().matchAll(/([\w-]+) is process (\d+) at \w+:\/\/\S*127\.0\.0\.1:(\d+)/g)
  return Array.from(found, ([, name = '', pid, port]) => ({ name, pid: Number(pid), port: Number(port) }))
}

/** One row of its table, without the label. */
export function figures(demo: RunningDemo, label: string): string[] {
  const lines = demo.stdout().split('\n')
  const row = lines.find((line) => line.trim().startsWith(`${label}  `))
  return row?.trim().split(/ {2,}/).slice(1) ?? []
}
