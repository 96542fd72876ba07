import type { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'

/** Marks the cache's own listeners. A symbol of the registry: another copy of the package must know them. */
const OWN: unique symbol = Symbol.for('cattlegrid.listener') as never

/** The listeners of Node's HTTP servers; their names may begin with `bound `. */
const NODES = new Set([
  'noop',
  'socketOnClose',
  'socketOnEnd',
  'socketOnError',
  'onServerResponseClose',
  'onReadableStreamEnd',
  'onSocketClose',
  'onSocketCloseDestroySSL',
  'onSocketTLSError',
  'onStreamAbortedRequest',
  'onStreamAbortedResponse',
  'onStreamCloseRequest',
  'onStreamCloseResponse',
  'onStreamEnd',
  'onStreamError',
])

/**
 * What is known of listeners that tell no handler, by their name or code: Fastify and Nest count connections, Nest drops the observable of a handler, and
 * compression its encoder. One that is not known here counts: that costs one more run of the handler.
 */
const HARMLESS: readonly RegExp[] = [
  /^bound removeTrackedSocket$/,
  /this\.openConnections\.delete\(socket\)/,
  /closeWatchers\.delete\(source\)/,
  /^function onResponseClose \(\) \{\s+closed = true;?\s+destroy\(stream\);?\s+\}$/,
]

/** The events by which a request, a response and a connection tell that the client has left. */
const OF_REQUEST = ['aborted', 'close', 'error']
const OF_RESPONSE = ['close']
const OF_CONNECTION = ['aborted', 'close', 'end', 'error']

/** Marks a listener of the cache, which tells no handler. */
export function ownListener<T extends Function>(listener: T): T {
  return Object.assign(listener, { [OWN]: true })
}

/**
 * True if code other than Node's, the framework's and the cache's listens for the end of this connection: it may tell the handler. Layers outside count
 * as well, because they share the request with the handler. `cleanUps`: listeners that do not count.
 */
export function isToldOfClose(req: IncomingMessage, res: ServerResponse, cleanUps: readonly Function[]): boolean {
  return (
    hasForeign(req, OF_REQUEST) ||
    hasForeign(res, OF_RESPONSE) ||
    hasForeign(connectionOf(req), OF_CONNECTION, cleanUps)
  )
}

/**
 * The listeners of `on-finished` on a connection, by which compression, morgan and Koa clean up and log. Those of layers outside tell no handler: most apps
 * have them, and a slow page whose clients lose patience would never be stored.
 */
export function cleanUpsOf(req: IncomingMessage): readonly Function[] {
  return listenersOf(connectionOf(req), OF_CONNECTION).filter(({ name }) => name === 'onevent')
}

/** The socket of a request, or its stream over HTTP/2, which ends by itself. */
export function connectionOf(req: IncomingMessage): Socket | ServerHttp2Stream {
  const { stream = req.socket } = req as IncomingMessage & Partial<Pick<Http2ServerRequest, 'stream'>>
  return stream
}

function hasForeign(emitter: Emitter, events: readonly string[], cleanUps: readonly Function[] = []): boolean {
  return listenersOf(emitter, events).some((listener) => !isKnown(listener) && !cleanUps.includes(listener))
}

/** An injected request may have a connection that emits nothing. */
type Emitter = Partial<Pick<EventEmitter, 'listeners'>>

function listenersOf(emitter: Emitter, events: readonly string[]): readonly Function[] {
  return events.flatMap((event) => emitter.listeners?.(event) ?? [])
}

function isKnown(listener: Function): boolean {
  const { name } = listener
  if (OWN in listener || NODES.has(name.replace(/^bound /, ''))) return true
  return HARMLESS.some((pattern) => pattern.test(name) || pattern.test(String(listener)))
}
