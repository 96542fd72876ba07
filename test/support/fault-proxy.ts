import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { InvalidOptionError } from '@cattlegrid/core'
import { Connection, type Way } from './fault-proxy-connection.ts'
import { HELD, type Pace, THROUGH } from './fault-proxy-pipe.ts'

/** The direction of the bytes that a fault affects. Default: `both`. */
export interface FaultDirection {
  readonly direction?: 'to-server' | 'to-client' | 'both' | undefined
}

/** A fault of the network, or of the server at its other end. It affects open connections and new ones. */
export type Fault =
  /** Bytes arrive `ms` later in each direction: with `both`, a reply takes twice as long. */
  | ({ readonly kind: 'latency'; readonly ms: number } & FaultDirection)
  /** At most this many bytes arrive in a second. */
  | ({ readonly kind: 'slow'; readonly bytesPerSecond: number } & FaultDirection)
  /** Connects succeed and nothing arrives. After `heal` all of it arrives, as TCP retransmits lost packets. */
  | ({ readonly kind: 'black-hole' } & FaultDirection)
  /** The server's side ends, the client's side stays open and silent: a dead peer behind a NAT. `heal` does not repair these connections. */
  | { readonly kind: 'half-open' }
  /** Connections end with an RST, new ones at once. */
  | { readonly kind: 'reset' }
  /** Connections end and new ones are refused, until `heal` listens on the same port again. */
  | { readonly kind: 'refuse' }

export interface FaultProxyOptions {
  /** The server behind the proxy. Default host: `127.0.0.1`. */
  readonly target: { readonly port: number; readonly host?: string | undefined }
}

/** Counts since the proxy was started. */
export interface ProxyTraffic {
  /** Accepted connections, and those of them that are open now. */
  readonly connections: number
  readonly open: number
  /** Bytes that the proxy has forwarded. */
  readonly toServer: number
  readonly toClient: number
}

/** A TCP proxy on a port of this machine, which can inject network faults. */
export interface FaultProxy {
  readonly host: '127.0.0.1'
  readonly port: number
  /** The active fault. */
  readonly fault: Fault | undefined
  readonly traffic: ProxyTraffic
  /**
   * Replaces the active fault.
   *
   * @throws InvalidOptionError for an invalid number; the active fault then stays.
   */
  inject(fault: Fault): Promise<void>
  /** Ends the active fault. Rejects if another process has taken the port while the proxy refused connections. */
  heal(): Promise<void>
  /** Ends every connection and stops listening. */
  close(): Promise<void>
}

const HOST = '127.0.0.1'

/** Starts a proxy on a free port of this machine. It keeps the process alive until it is closed. */
export async function startFaultProxy({ target }: FaultProxyOptions): Promise<FaultProxy> {
  const proxy = new TcpProxy({ port: target.port, host: target.host ?? HOST })
  await proxy.start()
  return proxy
}

class TcpProxy implements FaultProxy {
  readonly host = HOST
  readonly #target: { readonly port: number; readonly host: string }
  readonly #connections = new Set<Connection>()
  readonly #counts = { toServer: 0, toClient: 0 }
  #accepted = 0
  #port = 0
  #server: Server | undefined
  #fault: Fault | undefined
  /** Changes of the fault run one after another: a listener that is closing cannot be opened. */
  #switched: Promise<unknown> = Promise.resolve()
  #closed = false

  constructor(target: { readonly port: number; readonly host: string }) {
    this.#target = target
  }

  get port(): number {
    return this.#port
  }

  get fault(): Fault | undefined {
    return this.#fault
  }

  get traffic(): ProxyTraffic {
    return { connections: this.#accepted, open: this.#connections.size, ...this.#counts }
  }

  async start(): Promise<void> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket))
    server.listen(this.#port, HOST)
    await once(server, 'listening')
    // A failed accept, such as for lack of file descriptors, affects one client only.
    server.on('error', () => undefined)
    this.#server = server
    this.#port = (server.address() as AddressInfo).port
  }

  async inject(fault: Fault): Promise<void> {
    check(fault)
    await this.#switch(fault)
  }

  heal(): Promise<void> {
    return this.#switch(undefined)
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#inTurn(() => this.#stopListening())
  }

  #switch(fault: Fault | undefined): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#closed) return
      if (fault?.kind === 'refuse') await this.#stopListening()
      else if (this.#server === undefined) await this.start()
      this.#fault = fault
      for (const connection of this.#connections) suffer(connection, fault)
    })
  }

  async #inTurn(act: () => Promise<void>): Promise<void> {
    const acting = this.#switched.then(act)
    this.#switched = acting.catch(() => undefined)
    await acting
  }

  async #stopListening(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = once(server, 'close')
    server.close()
    for (const connection of this.#connections) connection.end()
    await closed
  }

  #accept(socket: Socket): void {
    const connection = new Connection(socket, this.#target, this.#counts)
    this.#accepted += 1
    this.#connections.add(connection)
    socket.on('close', () => this.#connections.delete(connection))
    // It was accepted while the listener was closing; closing waits for this connection to end.
    if (this.#server === undefined) connection.end()
    else suffer(connection, this.#fault)
  }
}

function suffer(connection: Connection, fault: Fault | undefined): void {
  switch (fault?.kind) {
    case 'half-open':
      connection.orphan()
      break
    case 'reset':
      connection.reset()
      break
    case 'refuse':
      connection.end()
      break
    case 'latency':
    case 'slow':
    case 'black-hole':
    case undefined:
      connection.pace('toServer', paceOf(fault, 'toServer'))
      connection.pace('toClient', paceOf(fault, 'toClient'))
  }
}

type PacedFault = Extract<Fault, FaultDirection>

function paceOf(fault: PacedFault | undefined, way: Way): Pace {
  const { direction = 'both' } = fault ?? {}
  const spared = direction === (way === 'toServer' ? 'to-client' : 'to-server')
  if (fault === undefined || spared) return THROUGH
  if (fault.kind === 'latency') return { kind: 'latency', ms: fault.ms }
  return fault.kind === 'slow' ? { kind: 'slow', bytesPerSecond: fault.bytesPerSecond } : HELD
}

function check(fault: Fault): void {
  if (fault.kind === 'latency' && !(fault.ms >= 0 && fault.ms < Infinity))
    throw new InvalidOptionError('fault.ms', fault.ms, 'a number of ms from 0 on')
  if (fault.kind === 'slow' && !(fault.bytesPerSecond > 0 && fault.bytesPerSecond < Infinity))
    throw new InvalidOptionError('fault.bytesPerSecond', fault.bytesPerSecond, 'a number above 0')
}
