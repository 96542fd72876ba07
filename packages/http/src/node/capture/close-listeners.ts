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
 * What is known of listeners that tell no handler, by their name or code: Fastify and Nest count connections,
 * Nest drops the observable of a handler, and compression its encoder. One that is not known here counts:
 * that costs one more run of the handler.
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

/**
 * Marks an adapter's own listener for the end of a request or response. Otherwise the cache takes it for the
 * handler's, and does not keep the response of a handler that was told that its client has left.
 *
 * @example
 * import { ownListener } from '@cattlegrid/http'
 *
 * res.once('close', ownListener(() => console.log('The response has ended')))
 */
export function ownListener<T extends Function>(listener: T): T {
  return Object.assign(listener, { [OWN]: true })
}

/**
 * True if code other than Node's, the framework's and the cache's listens for the end of this connection: it
 * may tell the handler. Layers outside count as well, because they share the request with the handler.
 * `cleanUps`: listeners that do not count.
 */
export function isToldOfClose(req: IncomingMessage, res: ServerResponse, cleanUps: readonly Function[]): boolean {
  return (
    hasForeign(req, OF_REQUEST) ||
    hasForeign(res, OF_RESPONSE) ||
    hasForeign(connectionOf(req), OF_CONNECTION, cleanUps)
  )
}

/**
 * Delays the listeners of `on-finished` on a connection, by which morgan and Koa log and clean up, until the
 * response of the handler is settled: then they tell it nothing, whoever added them. If they counted, a slow
 * page whose clients lose patience would never be stored. Returns the listeners.
 */
export function delayCleanUps(req: IncomingMessage, settled: Promise<unknown>): readonly Function[] {
  const connection = connectionOf(req)
  const delayed: Function[] = []
  let called: (() => unknown)[] | undefined = []
  for (const event of OF_CONNECTION)
    for (const listener of (connection.rawListeners?.(event) ?? []) as Cleanup[]) {
      const cleanUp = listener.listener ?? listener
      if (cleanUp.name !== 'onevent') continue
      delayed.push(cleanUp)
      const later: Cleanup = (...args) => {
        const call = (): unknown => Reflect.apply(listener, connection, args)
        if (called === undefined) call()
        else called.push(call)
      }
      // As with the listeners of `once`: whoever removes the original removes this one.
      later.listener = cleanUp
      connection.off(event, listener)
      connection.on(event, later)
    }
  if (delayed.length > 0)
    void settled.then(() => {
      const calls = called ?? []
      called = undefined
      for (const call of calls) call()
    })
  return delayed
}

/** A listener, and the one that it stands for. */
interface Cleanup {
  (...args: unknown[]): void
  listener?: Function
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
