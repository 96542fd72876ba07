import type { EventEmitter } from 'node:events'
import { type IncomingMessage, Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const ADDRESSES = ['remoteAddress', 'remotePort', 'remoteFamily', 'localAddress', 'localPort', 'localFamily'] as const

/**
 * What a TLS socket shows of its connection and peer. Its methods stay bound to it: after the close they
 * return what Node's return.
 */
const TLS_FACTS = [
  'authorized',
  'authorizationError',
  'alpnProtocol',
  'servername',
  'exportKeyingMaterial',
  'getCertificate',
  'getCipher',
  'getEphemeralKeyInfo',
  'getFinished',
  'getPeerCertificate',
  'getPeerFinished',
  'getPeerX509Certificate',
  'getProtocol',
  'getSession',
  'getSharedSigalgs',
  'getTLSTicket',
  'getX509Certificate',
  'isSessionReused',
] as const

/** The facts about a client's connection that its subrequests repeat. */
export interface ClientConnection {
  /** The server that received the request; undefined: none did, as for a request that is injected. */
  readonly server: EventEmitter | undefined
  readonly isHttp2: boolean
  /** Its addresses. */
  readonly peer: Facts<(typeof ADDRESSES)[number]>
  /** Empty for a connection without TLS. */
  readonly tls: Facts<string>
}

type Facts<Name extends string> = Readonly<Partial<Record<Name, unknown>>>

interface ReceivingSocket {
  readonly server?: EventEmitter | undefined
  readonly encrypted?: boolean | undefined
  readonly remoteAddress?: string | undefined
}

interface ReceivedRequest {
  readonly httpVersionMajor: number
  readonly socket?: ReceivingSocket | null | undefined
  /** Only a request over HTTP/2 has one. */
  readonly stream?: { readonly session?: { readonly server?: EventEmitter | undefined } | undefined } | undefined
}

/** Reads the facts at once: a request over HTTP/2 loses its connection when its response ends. */
export function connectionOf(req: ReceivedRequest): ClientConnection {
  const { httpVersionMajor, socket } = req
  const isHttp2 = httpVersionMajor === 2
  // The socket of a session may name another server, which has accepted the connection for this one.
  const server = (isHttp2 ? req.stream?.session?.server : undefined) ?? socket?.server
  const tls = socket?.encrypted === true ? { encrypted: true, ...factsOf(socket, TLS_FACTS) } : {}
  return { server, isHttp2, peer: factsOf(socket ?? {}, ADDRESSES), tls }
}

/**
 * The connection of another client, who shows no certificate: for an audit. No host has its address
 * (RFC 5737).
 */
export function anotherClient(connection: ClientConnection): ClientConnection {
  const { peer, tls } = connection
  const nobody = tls['encrypted'] === true ? { authorized: false, getPeerCertificate: () => ({}) } : {}
  const { getPeerX509Certificate: _, ...shown } = tls
  return {
    ...connection,
    peer: { ...peer, remoteAddress: '192.0.2.1', remotePort: 1024, remoteFamily: 'IPv4' },
    tls: { ...shown, ...nobody },
  }
}

function factsOf<Name extends string>(socket: object, names: readonly Name[]): Facts<Name> {
  const facts: Partial<Record<Name, unknown>> = {}
  for (const name of names) {
    const value: unknown = Reflect.get(socket, name)
    if (value !== undefined) facts[name] = typeof value === 'function' ? (value.bind(socket) as unknown) : value
  }
  return facts
}

/** Node's own listener to new connections. It would wait for a request to come over this one. */
const [NODE_CONNECTION_LISTENER] = new Server().listeners('connection')

/**
 * Gives a server a request as if it came from the network: all layers run, also those that a parent of the
 * application adds, or a listener that calls the application. Returns false, and does nothing, where nobody
 * listens to requests.
 */
export function enterServer(server: EventEmitter, req: IncomingMessage, res: ServerResponse): boolean {
  if (server.listenerCount('request') === 0) return false
  openConnection(server, req.socket)
  // A listener may refuse the connection.
  if (!req.socket.destroyed) server.emit('request', req, res)
  return true
}

/**
 * Announces the socket to all connection listeners except Node's: they may keep a record of each connection.
 */
function openConnection(server: EventEmitter, socket: Socket): void {
  const event = server.listenerCount('secureConnection') > 0 ? 'secureConnection' : 'connection'
  const listeners = server.rawListeners(event)
  // A server of HTTP/2 has sessions instead.
  if (NODE_CONNECTION_LISTENER === undefined || !listeners.includes(NODE_CONNECTION_LISTENER)) return
  for (const listener of listeners) if (listener !== NODE_CONNECTION_LISTENER) notifyListener(listener, server, socket)
}

function notifyListener(listener: Function, server: EventEmitter, socket: Socket): void {
  try {
    Reflect.apply(listener, server, [socket])
  } catch {
    // It may expect more of a connection than the socket of a subrequest has. Its error must not keep the
    // response from being refreshed.
  }
}
