import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** The lab as a person runs it, in a process of its own. */
export interface LabCommand {
  readonly child: ChildProcess
  readonly exited: Promise<unknown>
  stdout(): string
  stderr(): string
}

export function startLab(args: readonly string[], redisUrl = ''): LabCommand {
  const child = spawn(process.execPath, ['--import', 'tsx', MAIN, ...args], {
    env: { ...process.env, REDIS_URL: redisUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  return { child, exited: once(child, 'close'), stdout: () => stdout, stderr: () => stderr }
}
