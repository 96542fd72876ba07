import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { InvalidOptionError } from '@cattlegrid/core'
import { Connection, type Way } from './fault-proxy-connection.ts'
import { HELD, type Pace, THROUGH } from './fault-proxy-pipe.ts'

/** Which bytes a fault befalls. Default: `both`. */
export interface FaultDirection {
  readonly direction?: 'to-server' | 'to-client' | 'both' | undefined
}

/** What can be wrong with a network, or with the server at its other end; for connections that are open and for new ones. */
export type Fault =
  /** Bytes arrive `ms` later, in each direction: with `both` a reply takes twice that. */
  | ({ readonly kind: 'latency'; readonly ms: number } & FaultDirection)
  /** No more than so many bytes arrive in a second. */
  | ({ readonly kind: 'slow'; readonly bytesPerSecond: number } & FaultDirection)
  /** Connects succeed and nothing arrives. As TCP sends lost packets again, all of it arrives when the proxy is healed. */
  | ({ readonly kind: 'black-hole' } & FaultDirection)
  /** The server's side is gone, the client's side stays open and silent: a dead peer behind a NAT. Healing mends new connections, never these. */
  | { readonly kind: 'half-open' }
  /** Connections break with an RST, new ones at once. */
  | { readonly kind: 'reset' }
  /** Connections end and new ones are refused: nobody listens, until the proxy is healed, on the same port. */
  | { readonly kind: 'refuse' }

export interface FaultProxyOptions {
  /** The server behind the proxy. Default host: `127.0.0.1`. */
  readonly target: { readonly port: number; readonly host?: string | undefined }
}

/** What has gone through a proxy since it was started. */
export interface ProxyTraffic {
  /** Connections that were accepted, and those of them that are open now. */
  readonly connections: number
  readonly open: number
  /** Bytes that were passed on. */
  readonly toServer: number
  readonly toClient: number
}

/** A TCP proxy on a port of this machine that can go wrong in every way that a network can. */
export interface FaultProxy {
  readonly host: '127.0.0.1'
  readonly port: number
  /** The fault that is on. */
  readonly fault: Fault | undefined
  readonly traffic: ProxyTraffic
  /**
   * Puts a fault in the place of the one before.
   *
   * @throws InvalidOptionError for a number that the fault cannot have; the fault before stays.
   */
  inject(fault: Fault): Promise<void>
  /** Ends the fault. Rejects when another process has taken the port of a proxy that refused. */
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
  /** Switches follow one another: a listener that is being closed cannot be opened. */
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
    // An accept that fails, for want of file descriptors say, concerns one client.
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
    // It was accepted while the listener was being closed, which waits for it.
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
