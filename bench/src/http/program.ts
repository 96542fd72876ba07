import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOf } from '../run/machine.ts'

/** Where a program is, or undefined where it is not installed; servers are often outside the PATH of users. */
export function installed(name: string): string | undefined {
  const path = `${process.env['PATH'] ?? ''}:/usr/local/sbin:/usr/sbin:/sbin`
  for (const folder of path.split(':')) {
    try {
      execFileSync('test', ['-x', `${folder}/${name}`])
      return `${folder}/${name}`
    } catch {
      // Not there.
    }
  }
  return undefined
}

/** A server that is no Node process. */
export interface Program {
  readonly port: number
  /** Used so far by it and what it started, ms. */
  cpu(): number
  stop(): Promise<void>
}

/** Starts it in the foreground, and waits until it answers. */
export async function startProgram(path: string, args: readonly string[], port: number): Promise<Program> {
  const child = spawn(path, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const exited = once(child, 'exit')
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (child.exitCode !== null || tries === 200) throw new Error(`${path} did not start.\n${said}`)
    await sleep(50)
  }
  return {
    port,
    cpu: () => [child.pid ?? 0, ...childrenOf(child.pid ?? 0)].reduce((sum, pid) => sum + (cpuOf(pid) ?? 0), 0),
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

async function answers(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const up = await once(socket, 'connect').then(
    () => true,
    () => false,
  )
  socket.destroy()
  return up
}

function childrenOf(pid: number): readonly number[] {
  try {
    return execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map(Number)
  } catch {
    return []
  }
}
