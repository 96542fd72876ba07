import type { IncomingMessage, ServerResponse } from 'node:http'
import { processWide } from '@cattlegrid/core/extend'
import { CapturedStack } from '../../request/caller.ts'
import { connectionOf } from './close-listeners.ts'

/** What a request shows once its client has left. */
const OF_REQUEST = [
  'aborted',
  'destroyed',
  'closed',
  'errored',
  'readable',
  'readableAborted',
  'readableEnded',
  '_readableState',
]

/** The code of frameworks that reads for itself, without telling the handler. */
const FRAMEWORK =
  /[\\/]node_modules[\\/](?:fastify[\\/]lib[\\/](?:reply|wrap-thenable)|@nestjs[\\/]core[\\/]router|@cattlegrid)[\\/.]/
/** Node's functions that report to their caller how a stream has ended. */
const REPORTING = /^node:(?:events$|internal\/streams\/(?:end-of-stream|pipeline|add-abort-signal|operators))/

/** One for all copies of the package. */
const watch = processWide('state-reads/1', () => ({ enabled: true }))

/** Reads the state of a connection for the cache itself. */
export function unwatched<T>(read: () => T): T {
  const { enabled } = watch
  watch.enabled = false
  try {
    return read()
  } finally {
    watch.enabled = enabled
  }
}

/**
 * True if the code that reads a property of a connection, a request or a response learns that its client has
 * left. `accessor`: the function that it called. `tellsStreams`: Node's functions for streams get the
 * real state.
 */
export function isTelling(accessor: Function, tellsStreams: boolean): boolean {
  if (!watch.enabled) return false
  const { reader } = new CapturedStack(accessor)
  // Node itself, at an event of the connection.
  if (reader === undefined) return false
  const { through, file } = reader
  if (through.length > 0 && !(tellsStreams && through.some((each) => REPORTING.test(each)))) return false
  return !FRAMEWORK.test(file)
}

/** Over HTTP/2, a message shows the connection of all streams as long as its own stream is open. */
const OF_HTTP2 = ['socket', 'connection']

/**
 * Calls `onRead` when code reads, from a message or from its connection, that the client has left. That
 * connection serves no other request any more.
 */
export function watchState(req: IncomingMessage, res: ServerResponse, onRead: () => void): void {
  const ofHttp2 = req.httpVersionMajor > 1 ? OF_HTTP2 : []
  for (const name of [...OF_REQUEST, ...ofHttp2]) if (name in req) watchProperty(req, name, onRead)
  for (const name of ofHttp2) watchProperty(res, name, onRead)
  watchAll(connectionOf(req), onRead)
}

/** Makes a proxy the prototype: all that a connection shows of its state is inherited. */
function watchAll(connection: object, onRead: () => void): void {
  const prototype = Object.getPrototypeOf(connection) as object
  const get = (target: object, name: string | symbol, receiver: unknown): unknown => {
    if (isTelling(get, true)) onRead()
    return Reflect.get(target, name, receiver)
  }
  // Over a derived object: `instanceof` finds the prototype itself.
  Reflect.setPrototypeOf(connection, new Proxy(Object.create(prototype) as object, { get }))
}

function watchProperty(object: object, name: string, onRead: () => void): void {
  let own = Object.getOwnPropertyDescriptor(object, name)
  if (own?.configurable === false) return
  const get = (): unknown => {
    if (isTelling(get, true)) onRead()
    if (own === undefined) return Reflect.get(Object.getPrototypeOf(object) as object, name, object)
    return own.get === undefined ? own.value : own.get.call(object)
  }
  const set = (value: unknown): void => {
    if (own === undefined) Reflect.set(Object.getPrototypeOf(object) as object, name, value, object)
    else if (own.set === undefined) own = { ...own, value }
    else own.set.call(object, value)
  }
  Object.defineProperty(object, name, { configurable: true, enumerable: own?.enumerable === true, get, set })
}
