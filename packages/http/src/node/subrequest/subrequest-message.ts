import { IncomingMessage, ServerResponse } from 'node:http'
import type { Subrequest } from '../../road/subrequest.ts'
import { asSocket, type NullSocket, NullStream } from './null-socket.ts'

/** What a subrequest asks for. */
type RequestLine = Pick<Subrequest, 'scheme' | 'host' | 'target' | 'headers'>

/** Makes the request that arrives at the server. */
export function requestOn(socket: NullSocket, line: RequestLine): IncomingMessage {
  const req = new IncomingMessage(asSocket(socket))
  req.method = 'GET'
  req.url = line.target
  if (socket instanceof NullStream) becomeHttp2(req, socket, line)
  else becomeHttp1(req, line)
  req.complete = true
  req.push(null)
  return req
}

function becomeHttp1(req: IncomingMessage, { host, headers }: RequestLine): void {
  setVersion(req, 1, 1)
  req.headers = { ...headers, host }
  req.headersDistinct = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, [String(value)]]))
  req.rawHeaders = ['Host', host, ...Object.entries(headers).flat()]
}

/**
 * Gives the request what each request over HTTP/2 has, and `Host`, which every handler sees beside
 * `:authority`.
 */
function becomeHttp2(req: IncomingMessage, stream: NullStream, { scheme, host, target, headers }: RequestLine): void {
  setVersion(req, 2, 0)
  const pseudo = { ':method': 'GET', ':authority': host, ':scheme': scheme, ':path': target }
  const all = { ...pseudo, ...headers, host }
  req.headers = all
  req.rawHeaders = Object.entries(all).flat()
  Object.defineProperties(req, {
    authority: { get: () => req.headers[':authority'] ?? req.headers.host },
    scheme: { get: () => req.headers[':scheme'] },
    stream: { value: stream },
    // Node's request over HTTP/2 has none.
    headersDistinct: { value: undefined },
  })
}

function setVersion(req: IncomingMessage, major: number, minor: number): void {
  req.httpVersion = `${major}.${minor}`
  req.httpVersionMajor = major
  req.httpVersionMinor = minor
}

/** Makes the response to a subrequest, which goes nowhere. */
export function responseOn(socket: NullSocket, req: IncomingMessage): ServerResponse {
  const res = new ServerResponse(req)
  res.shouldKeepAlive = false
  res.assignSocket(asSocket(socket))
  // Node's server does this for its own sockets; without it a handler that pipes waits for ever.
  socket.on('drain', () => res.emit('drain'))
  if (socket instanceof NullStream)
    Object.assign(res, { stream: socket, createPushResponse: () => socket.pushStream() })
  return res
}
