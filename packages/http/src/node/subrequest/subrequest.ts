import { InvalidOptionError } from '@cattlegrid/core'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { queueOwnMicrotask } from '../../microtask.ts'
import type { Recorder } from '../../recorder/recorder.ts'
import { type ClientConnection, enterServer } from './connection.ts'
import { NullSocket, NullStream } from './null-socket.ts'
import { requestOn, responseOn } from './subrequest-message.ts'
import type { Subrequest, SubrequestMarker, SubrequestResponse, SubrequestResult } from '../../road/subrequest.ts'

const MARKER = Symbol.for('cattlegrid.subrequest')

/**
 * The marker of a subrequest. A request from the network has none and cannot forge one: it is not a
 * header field.
 */
export function subrequestMarkerOf(req: IncomingMessage): SubrequestMarker | undefined {
  return (req as { [MARKER]?: SubrequestMarker })[MARKER]
}

/**
 * True if cattlegrid itself sent this request: to refresh an entry, to fill it for a `HEAD` or for a URL that
 * is not that of the key, to replace one that a 304 did not match, or to audit a response. Use it in the
 * `skip` of outer loggers, rate limiters and sessions.
 *
 * @example
 * import { isRefresh } from '@cattlegrid/http'
 *
 * app.use((request, _response, next) => {
 *   if (!isRefresh(request)) console.log(request.method, request.url)
 *   next()
 * })
 */
export function isRefresh(req: IncomingMessage): boolean {
  if (!req) throw new InvalidOptionError('isRefresh', req, 'a request; where a function is taken, isRefresh itself')
  return subrequestMarkerOf(req) !== undefined
}

/** A subrequest on the way through an application over `node:http`. */
interface SentSubrequest extends Subrequest {
  /**
   * The connection of the client: the subrequest has the same peer address, so that the framework trusts
   * both alike.
   */
  readonly connection: ClientConnection
  /** Called where the request came without a server, or its server has no `request` listener. */
  dispatch(req: IncomingMessage, res: ServerResponse): void
}

/**
 * Sends a request through the server that received the client's, and so through the whole application;
 * resolves to the result that the sending place recorded. It is a `GET` with the URL and the host (RFC 9111
 * section 4.3.1). Of the client's fields it carries those in the key and in `Vary`, and those in
 * `refreshHeaders`; the cache adds validators, routing fields and `CDN-Loop`.
 */
export function sendSubrequest(subrequest: SentSubrequest): Promise<SubrequestResponse> {
  const socket = socketFor(subrequest)
  const req = requestOn(socket, subrequest)
  const res = responseOn(socket, req)
  res.once('finish', () => {
    req.resume()
    // In a microtask: a stream that is destroyed from the callback of a write makes an error with a stack,
    // even when no write is left.
    queueOwnMicrotask(() => socket.destroy())
  })
  return new Promise<SubrequestResponse>((resolve) => {
    let recorder: Recorder | undefined
    const onReached = (reached: Recorder): void => {
      recorder = reached
      void reached.done.then((result) => {
        // A withheld 304 never emits `finish`; any other response that is not used may be endless.
        const notModified = reached.revalidated !== undefined
        if (notModified || (result.kind !== 'store' && result.kind !== 'share')) socket.destroy()
        resolve({ result, status: reached.status })
      })
    }
    const onClose = (): void => {
      if (recorder !== undefined) return recorder.abort('failure')
      resolve({ result: { kind: 'unreached' }, status: res.headersSent ? res.statusCode : undefined })
    }
    const rejectAs = (result: SubrequestResult): void => {
      resolve({ result, status: undefined })
      socket.destroy()
    }
    socket.once('respond', () => rejectAs({ kind: 'unshareable', why: 'hijacked' }))
    Object.defineProperty(req, MARKER, {
      value: {
        place: subrequest.place,
        key: subrequest.key,
        onReached,
        onRefused: (kind) => rejectAs({ kind }),
        facts: subrequest.facts,
      } satisfies SubrequestMarker,
    })
    // After the recording's own listener, which knows the cause.
    res.once('close', () => queueOwnMicrotask(onClose))
    subrequest.signal.addEventListener('abort', () => socket.destroy(), { once: true })
    if (subrequest.signal.aborted) onClose()
    else subrequest.scope.runInAsyncScope(() => enter(subrequest, req, res))
  }).catch((error: unknown) => {
    // A listener of the server has thrown.
    socket.destroy()
    throw error
  })
}

function socketFor({ connection, scheme }: SentSubrequest): NullSocket {
  const encrypted = scheme === 'https'
  return connection.isHttp2 ? new NullStream(connection, encrypted) : new NullSocket(connection, encrypted)
}

function enter(subrequest: SentSubrequest, req: IncomingMessage, res: ServerResponse): void {
  const { server } = subrequest.connection
  if (server === undefined || !enterServer(server, req, res)) subrequest.dispatch(req, res)
}
