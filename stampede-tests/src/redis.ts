import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

/** A Redis of its own for one check, which the check may freeze, kill and start again. */
export class Redis {
  readonly url: string
  readonly #port: number
  readonly #args: readonly string[]
  #child: ChildProcess

  private constructor(port: number, args: readonly string[], child: ChildProcess) {
    this.url = `redis://127.0.0.1:${port}`
    this.#port = port
    this.#args = args
    this.#child = child
  }

  static async start(args: readonly string[] = []): Promise<Redis> {
    const port = await freePort()
    return new Redis(port, args, await startServer(port, args))
  }

  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }

  /** The same address, and nothing stored. */
  async startAgain(): Promise<void> {
    this.#child = await startServer(this.#port, this.#args)
  }
}

async function startServer(port: number, args: readonly string[]): Promise<ChildProcess> {
  const program = process.env['REDIS_SERVER'] ?? 'redis-server'
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no']
  const child = spawn(program, [...settings, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (chunk: Buffer) => {
      printed += chunk.toString()
      if (printed.includes('Ready to accept connections')) resolve()
    })
    child.once('exit', () => reject(new Error(`${program} ended: ${printed}`)))
    child.once('error', (cause) =>
      reject(
        new Error(`Could not start ${program}: put redis-server on the PATH, or name it in REDIS_SERVER`, { cause }),
      ),
    )
  })
  await ready
  return child
}

/** A way to Redis that can be slow, and that can be cut. */
export class Relay {
  readonly url: string
  readonly #server: Server
  readonly #sockets = new Set<Socket>()

  private constructor(server: Server) {
    this.#server = server
    this.url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** `latency`: how long each byte takes to Redis, ms. */
  static async start(target: string, latency: number): Promise<Relay> {
    const { port } = new URL(target)
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const relay = new Relay(server)
    server.on('connection', (near) => {
      const far = connect(Number(port), '127.0.0.1')
      relay.#pair(near, far)
      near.on('data', (bytes) => setTimeout(() => far.write(bytes), latency))
      far.on('data', (bytes) => near.write(bytes))
    })
    return relay
  }

  /** Ends each connection at once: what Redis was asked may have been done, and nobody is told. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  stop(): void {
    this.cut()
    this.#server.close()
  }

  #pair(near: Socket, far: Socket): void {
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        other.destroy()
      })
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
