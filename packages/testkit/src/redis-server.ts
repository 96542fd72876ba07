import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { findRedis } from './redis-binary.ts'

type ServerProcess = ChildProcessByStdio<null, Readable, Readable>

/** The options of `startRedis`. */
export interface StartRedisOptions {
  /** Further arguments of the server, such as `['--maxmemory', '4mb']`. Implies `own`. */
  readonly args?: readonly string[] | undefined
  /** The port to listen on. Implies `own`. Default: a free port. */
  readonly port?: number | undefined
  /**
   * Starts a server that the test may stop, pause and flush, even if REDIS_URL names another one.
   * Default: false.
   */
  readonly own?: boolean | undefined
}

/** A running server. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  /** Undefined for the server that REDIS_URL names, which a test cannot pause or kill. */
  readonly pid: number | undefined
  /** Ends the server and waits for its exit. Does nothing to the server that REDIS_URL names. */
  stop(): Promise<void>
  /** Sends SIGSTOP: connections stay open, and the server answers nothing. */
  pause(): void
  /** Sends SIGCONT. */
  resume(): void
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<void>
}

/**
 * Returns the server that REDIS_URL names, else starts one without persistence. A started server ends when
 * this process ends, even by SIGKILL.
 *
 * @example
 * import { startRedis } from '@cattlegrid/testkit'
 *
 * const server = await startRedis({ own: true })
 * console.log(server.url)
 * await server.stop()
 * @throws Error when no Redis or Valkey, version 7 or later, can be found, when nothing listens at REDIS_URL,
 * or when the server rejects `args`.
 */
export async function startRedis(options: StartRedisOptions = {}): Promise<RedisServer> {
  const url = process.env['REDIS_URL']
  const wantsOwn = options.own === true || options.args !== undefined || options.port !== undefined
  if (url !== undefined && url !== '' && !wantsOwn) return await serverAt(url)
  // Another process may take the port after `freePort` found it and before the server listens on it.
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
    throw new Error('A test cannot pause or kill the server that REDIS_URL names: start one with { own: true }')
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

/** A port of this machine that no process listens on right now. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function startAlone(port: number, args: readonly string[]): Promise<RedisServer> {
  // Each server gets its own file name: it loads the file if it exists, and a full resynchronisation writes
  // one even without persistence.
  const dump = `cattlegrid-${process.pid}-${port}.rdb`
  const volatile = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dbfilename', dump]
  return await startProcess(port, ['--port', String(port), ...volatile, ...args], {
    readyWhen: 'Ready to accept connections',
    leaves: join(tmpdir(), dump),
  })
}

export interface ProcessTraits {
  /** The line that the server prints once it accepts connections. */
  readonly readyWhen: string
  /** A file that the server may leave behind, and that `stop` removes. */
  readonly leaves?: string | undefined
}

/** Starts the server with these arguments. It ends when this process ends, even by SIGKILL. */
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
    // A paused server handles SIGTERM only after SIGCONT.
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
    child.once('close', () => reject(new Error(`The Redis server exited while starting.\n${said}`)))
  })
}

/**
 * Starts a shell that kills the server when this process ends. The shell's input ends then, even after
 * SIGKILL; test runners die on a signal without running any handler. The shell gets its own session, so that
 * Ctrl-C in the terminal does not reach it. Returns a function that ends the shell and leaves the
 * server running.
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

/** Lets this process end although the child and its pipes are open. */
function unref(child: ChildProcess, ...pipes: readonly (Readable | Writable)[]): void {
  child.unref()
  for (const pipe of pipes) (pipe as Socket).unref()
}
