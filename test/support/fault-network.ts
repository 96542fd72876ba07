import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

/** A server that echoes what it receives, and the connections that it has. */
export interface EchoServer {
  readonly port: number
  readonly sockets: readonly Socket[]
  /** The number of open connections. */
  readonly open: number
  /** The number of bytes received on all connections. */
  readonly received: number
  close(): Promise<void>
}

export async function startEcho(serve: (socket: Socket) => void = echo): Promise<EchoServer> {
  const sockets: Socket[] = []
  let received = 0
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    socket.on('data', (bytes) => {
      received += bytes.length
    })
    serve(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sockets,
    get open() {
      return sockets.filter(({ destroyed }) => !destroyed).length
    },
    get received() {
      return received
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function echo(socket: Socket): void {
  socket.pipe(socket)
}

/** The client's end of a connection: the text that it received, and how the connection ended. */
export class Client {
  readonly socket: Socket
  #got = ''
  #end: string | undefined

  constructor(port: number) {
    this.socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    this.socket.setEncoding('latin1')
    this.socket.on('data', (text: string) => {
      this.#got += text
    })
    this.socket.on('error', ({ code }: NodeJS.ErrnoException) => {
      this.#end ??= code
    })
    this.socket.on('end', () => {
      this.#end ??= 'end'
    })
  }

  get got(): string {
    return this.#got
  }

  /** `end`, or the code of the error; undefined while the connection is open. */
  get ended(): string | undefined {
    return this.#end
  }

  say(text: string): this {
    this.socket.write(text)
    return this
  }

  /** Waits until it has received as many characters as `text` has; throws if they differ from `text`. */
  async hears(text: string): Promise<void> {
    await expectSoon(() => this.#got.length >= text.length)
    if (this.#got !== text) throw new Error(`Got ${this.#got.slice(0, 60)}, not ${text.slice(0, 60)}`)
  }
}

const PATIENCE = 20_000

/** Polls until `holds` returns true. */
export async function expectSoon(holds: () => boolean): Promise<void> {
  const begun = performance.now()
  while (!holds()) {
    if (performance.now() - begun > PATIENCE) throw new Error(`Not within ${PATIENCE} ms: ${holds.toString()}`)
    await rest(5)
  }
}

/** Waits long enough for bytes to arrive, in a test that expects none. */
export function quiet(): Promise<void> {
  return rest(150)
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** An echo server behind a fault proxy, and the clients connected to it. Each test has its own. */
export class EchoStage {
  readonly echo: EchoServer
  readonly proxy: FaultProxy
  readonly clients: Client[] = []

  private constructor(server: EchoServer, proxy: FaultProxy) {
    this.echo = server
    this.proxy = proxy
  }

  static async start(): Promise<EchoStage> {
    const server = await startEcho()
    return new EchoStage(server, await startFaultProxy({ target: { port: server.port } }))
  }

  dial(): Client {
    const client = new Client(this.proxy.port)
    this.clients.push(client)
    return client
  }

  /** A connection that has already echoed a character. */
  async spoken(): Promise<Client> {
    const client = this.dial().say('a')
    await client.hears('a')
    return client
  }

  async end(): Promise<void> {
    for (const { socket } of this.clients) socket.destroy()
    await this.proxy.close()
    await this.echo.close()
  }
}
