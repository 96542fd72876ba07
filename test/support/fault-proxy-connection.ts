import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { type Pace, Pipe } from './fault-proxy-pipe.ts'

/** The two ways through a connection. */
export type Way = 'toServer' | 'toClient'

/** A client's connection, and the one to the server that it stands for: what ends or breaks one does so to the other. */
export class Connection {
  readonly #client: Socket
  readonly #server: Socket
  readonly #pipes: Readonly<Record<Way, Pipe>>
  #orphaned = false

  constructor(client: Socket, target: TcpNetConnectOpts, counts: Record<Way, number>) {
    const server = connect({ ...target, noDelay: true, allowHalfOpen: true })
    const pipe = (way: Way, from: Socket, to: Socket): Pipe =>
      new Pipe(from, to, (bytes) => {
        counts[way] += bytes
      })
    this.#client = client
    this.#server = server
    this.#pipes = { toServer: pipe('toServer', client, server), toClient: pipe('toClient', server, client) }
    for (const socket of [client, server]) {
      // What errs closes next, and then the other side is told; without a listener the error would end the process.
      socket.on('error', () => undefined)
      socket.on('close', (erred: boolean) => {
        if (erred) this.reset()
      })
    }
  }

  pace(way: Way, pace: Pace): void {
    this.#pipes[way].pace = pace
  }

  /** The server's side is gone for good; the client is not told, and what it sends is lost. */
  orphan(): void {
    if (this.#orphaned) return
    this.#orphaned = true
    this.#cut()
    this.#server.destroy()
    // Nobody is left who could answer its goodbye: the socket would wait for that until the proxy closes.
    if (this.#client.readableEnded) this.#client.destroy()
    else this.#client.on('end', () => this.#client.destroy())
  }

  /** Breaks both sides with an RST. */
  reset(): void {
    this.#cut()
    for (const socket of [this.#client, this.#server]) {
      // One that is not connected yet would first wait until it is.
      if (socket.connecting) socket.destroy()
      else if (!socket.destroyed) socket.resetAndDestroy()
    }
  }

  /** Ends both sides, as the kernel does for a process that has died. */
  end(): void {
    this.#cut()
    this.#client.destroy()
    this.#server.destroy()
  }

  #cut(): void {
    this.#pipes.toServer.cut()
    this.#pipes.toClient.cut()
  }
}
