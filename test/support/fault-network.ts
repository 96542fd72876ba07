import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts'

/** A server that sends back what it gets, and its view of its connections. */
export interface EchoServer {
  readonly port: number
  readonly sockets: readonly Socket[]
  /** Connections that are open. */
  readonly open: number
  /** What has arrived in all. */
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

/** One end of a connection: what it has got, and how it ended. */
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

  /** `end`, or the code of the error. */
  get ended(): string | undefined {
    return this.#end
  }

  say(text: string): this {
    this.socket.write(text)
    return this
  }

  /** Resolves when it has got as much as this. */
  async hears(text: string): Promise<void> {
    await expectSoon(() => this.#got.length >= text.length)
    if (this.#got !== text) throw new Error(`Got ${this.#got.slice(0, 60)}, not ${text.slice(0, 60)}`)
  }
}

const PATIENCE = 20_000

/** Looks until it is so. */
export async function expectSoon(holds: () => boolean): Promise<void> {
  const begun = performance.now()
  while (!holds()) {
    if (performance.now() - begun > PATIENCE) throw new Error(`Not within ${PATIENCE} ms: ${holds.toString()}`)
    await rest(5)
  }
}

/** Long enough for bytes to cross the machine a hundred times, where a test says that none do. */
export function quiet(): Promise<void> {
  return rest(150)
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** An echo server behind a fault proxy, and the clients that were connected to it: one for each test. */
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

  /** A connection over which something has gone already. */
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
