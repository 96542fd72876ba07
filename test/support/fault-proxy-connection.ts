import { connect, type Socket, type TcpNetConnectOpts } from 'node:net'
import { type Pace, Pipe } from './fault-proxy-pipe.ts'

/** The two directions of a connection. */
export type Way = 'toServer' | 'toClient'

/** A client's connection and the proxy's connection to the server. If one ends or breaks, the other does too. */
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
      // An error is followed by 'close', which resets the other side. Without this listener the error would end the process.
      socket.on('error', () => undefined)
      socket.on('close', (erred: boolean) => {
        if (erred) this.reset()
      })
    }
  }

  pace(way: Way, pace: Pace): void {
    this.#pipes[way].pace = pace
  }

  /** Ends the server's side. The client does not notice, and the bytes that it sends are lost. */
  orphan(): void {
    if (this.#orphaned) return
    this.#orphaned = true
    this.#cut()
    this.#server.destroy()
    // No server is left to answer the client's FIN: the socket would stay half-closed until the proxy closes.
    if (this.#client.readableEnded) this.#client.destroy()
    else this.#client.on('end', () => this.#client.destroy())
  }

  /** Ends both sides with an RST. */
  reset(): void {
    this.#cut()
    for (const socket of [this.#client, this.#server]) {
      // `resetAndDestroy` of a connecting socket would wait until it is connected.
      if (socket.connecting) socket.destroy()
      else if (!socket.destroyed) socket.resetAndDestroy()
    }
  }

  /** Ends both sides, as the kernel does when a process dies. */
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
