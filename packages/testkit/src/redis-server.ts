import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { findRedis } from './redis-binary.ts'

type ServerProcess = ChildProcessByStdio<null, Readable, Readable>

export interface StartRedisOptions {
  /** Further arguments of the server, such as `['--maxmemory', '4mb']`. Asks for a server of one's own. */
  readonly args?: readonly string[] | undefined
  /** The port to listen on; asks for a server of one's own. Default: a free one. */
  readonly port?: number | undefined
  /** Whether the server must be one that the test may stop, pause and flush, even where REDIS_URL names another. Default: false. */
  readonly own?: boolean | undefined
}

/** A server that answers. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  /** Undefined for a server that REDIS_URL names: that one cannot be paused or killed. */
  readonly pid: number | undefined
  /** Ends the server and waits for its end; leaves a server that REDIS_URL names alone. */
  stop(): Promise<void>
  /** SIGSTOP: connections stay open and nothing answers. */
  pause(): void
  /** SIGCONT. */
  resume(): void
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>
}

/** The server that REDIS_URL names, else one that `findRedis` found, without persistence, which ends with this process however this one ends. */
export async function startRedis(options: StartRedisOptions = {}): Promise<RedisServer> {
  const url = process.env['REDIS_URL']
  const wantsOwn = options.own === true || options.args !== undefined || options.port !== undefined
  if (url !== undefined && url !== '' && !wantsOwn) return await serverAt(url)
  // Between finding a free port and listening on it another process may take it.
  for (let tries = 1; ; tries += 1) {
    try {
      return await startAlone(options.port ?? (await freePort()), options.args ?? [])
    } catch (error) {
      if (options.port !== undefined || tries === 5) throw error
    }
  }
}

async function serverAt(url: string): Promise<RedisServer> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port || 6379), hostname)
  await once(socket, 'connect').catch((cause: unknown) => {
    throw new Error(`REDIS_URL is ${url}, and nothing answers there`, { cause })
  })
  socket.destroy()
  const refuse = (): never => {
    throw new Error('The server that REDIS_URL names is not ours to stop: start one with { own: true }')
  }
  return {
    url,
    port: Number(port || 6379),
    pid: undefined,
    stop: () => Promise.resolve(),
    pause: refuse,
    resume: refuse,
    kill: refuse,
  }
}

/** A port of this machine on which nobody listens at this moment. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function startAlone(port: number, args: readonly string[]): Promise<RedisServer> {
  // A file name of its own: a server loads what it finds, and a full resynchronisation writes one even without persistence.
  const dump = `cattlegrid-${process.pid}-${port}.rdb`
  const volatile = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dbfilename', dump]
  return await startProcess(port, ['--port', String(port), ...volatile, ...args], {
    readyWhen: 'Ready to accept connections',
    leaves: join(tmpdir(), dump),
  })
}

/** How a server is started and cleaned up after. */
export interface ProcessTraits {
  /** What it says when it answers. */
  readonly readyWhen: string
  /** A file that it may leave behind. */
  readonly leaves?: string | undefined
}

/** Starts the program with these arguments; it ends with this process however this one ends. */
export async function startProcess(
  port: number,
  args: readonly string[],
  { readyWhen, leaves }: ProcessTraits,
): Promise<RedisServer> {
  const { path, env } = findRedis()
  const child = spawn(path, args, { env, cwd: tmpdir(), stdio: ['ignore', 'pipe', 'pipe'] })
  const exited = once(child, 'exit')
  await ready(child, readyWhen)
  const released = guard(child)
  unref(child, child.stdout, child.stderr)
  const end = async (...signals: readonly NodeJS.Signals[]): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.ref()
      for (const signal of signals) child.kill(signal)
      await exited
    }
    released()
    if (leaves !== undefined) rmSync(leaves, { force: true })
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    pid: child.pid,
    // A server that is paused takes no SIGTERM before it goes on.
    stop: () => end('SIGCONT', 'SIGTERM'),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: () => end('SIGKILL'),
  }
}

async function ready(child: ServerProcess, readyWhen: string): Promise<void> {
  let said = ''
  await new Promise<void>((resolve, reject) => {
    const listen = (chunk: Buffer): void => {
      if (said.length < 16_384) said += chunk.toString()
      if (said.includes(readyWhen)) resolve()
    }
    child.stdout.on('data', listen)
    child.stderr.on('data', listen)
    child.once('error', reject)
    child.once('close', () => reject(new Error(`The Redis server ended at its start.\n${said}`)))
  })
}

/**
 * A shell that kills the server when this process is gone: its input ends then, whatever ended us, SIGKILL included. Test runners die on a
 * signal without running any handler. In a session of its own, so that a Ctrl-C in the terminal does not reach it. Returns what dismisses it.
 */
function guard(server: ServerProcess): () => void {
  const shell = spawn('/bin/sh', ['-c', 'read -r _ || kill -9 "$0"', String(server.pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  shell.stdin.on('error', () => undefined)
  unref(shell, shell.stdin)
  return () => void shell.stdin.end('dismissed\n')
}

/** Neither the process nor its pipes shall keep this one alive. */
function unref(child: ChildProcess, ...pipes: readonly (Readable | Writable)[]): void {
  child.unref()
  for (const pipe of pipes) (pipe as Socket).unref()
}
