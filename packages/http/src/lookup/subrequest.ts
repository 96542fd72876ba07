import type { AsyncResource } from 'node:async_hooks'
import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { Recorder } from '../capture/recorder.ts'
import type { RecordingResult } from '../capture/recording-result.ts'

const MARKER = Symbol.for('cattlegrid.subrequest')

/** Marks a subrequest for the layer that sent it. */
export interface SubrequestMarker {
  readonly layer: string
  /** The key of the request that caused the subrequest. */
  readonly key: string
  /** Called when the subrequest reaches the layer that sent it: the handler runs, and `recorder` records its response. */
  onReached(recorder: Recorder): void
  /** The layer that sent the subrequest makes another key of it. */
  onOtherKey(): void
  /** The stored response whose validators it carries. */
  readonly revalidates: RecordedResponse | undefined
}

/** The marker of a subrequest. A request from the network has none and cannot forge one: it is not a header field. */
export function subrequestMarkerOf(req: IncomingMessage): SubrequestMarker | undefined {
  return (req as { [MARKER]?: SubrequestMarker })[MARKER]
}

/** True if cattlegrid itself sent this request, to refresh an entry or to fill it for a `HEAD`: use it in the `skip` of outer loggers, rate limiters and sessions. */
export function isRefresh(req: IncomingMessage): boolean {
  return subrequestMarkerOf(req) !== undefined
}

export interface Subrequest {
  readonly layer: string
  readonly key: string
  readonly scheme: string
  readonly host: string
  readonly target: string
  /** The fields in the key and in `Vary`, and those that the route names. */
  readonly headers: Readonly<Record<string, string>>
  readonly revalidates?: RecordedResponse | undefined
  /** The client's request that caused it: the subrequest has the same peer address, so that the framework trusts both alike. */
  readonly parent: IncomingMessage
  /** Aborts the subrequest, whatever the handler does. */
  readonly signal: AbortSignal
  readonly scope: AsyncResource
  dispatch(req: IncomingMessage, res: ServerResponse): void
}

/**
 * `unreached`: an outer layer answered, such as an authentication that saw no credentials. `other-key`: the layer makes another
 * key of the subrequest, because the key holds a value that the subrequest lacks.
 */
export type SubrequestResult = RecordingResult | { readonly kind: 'unreached' | 'other-key' }

export interface SubrequestResponse {
  readonly result: SubrequestResult
  /** undefined: no head came. */
  readonly status: number | undefined
}

/**
 * Sends a request through the whole application, and resolves to the result that the sending layer recorded. The request carries the method,
 * the URL, the host and the fields that selected the entry (RFC 9111 section 4.3.1). It carries nothing else of a client: no other cookie, no other
 * credentials.
 */
export function sendSubrequest(subrequest: Subrequest): Promise<SubrequestResponse> {
  const socket = new NullSocket(subrequest.parent.socket, subrequest.scheme === 'https')
  const req = requestOn(socket, subrequest)
  const res = new ServerResponse(req)
  res.shouldKeepAlive = false
  res.assignSocket(asSocket(socket))
  // Node's server does this for its own sockets; without it a handler that pipes waits for ever.
  socket.on('drain', () => res.emit('drain'))
  res.once('finish', () => {
    req.resume()
    // In a microtask: a stream that is destroyed from the callback of a write makes an error with a stack, even when no write is left.
    queueMicrotask(() => socket.destroy())
  })
  return new Promise((resolve) => {
    let recording: Recorder | undefined
    const onReached = (recorder: Recorder): void => {
      recording = recorder
      void recorder.done.then((result) => {
        // A response that will not be used is aborted, because it may be endless.
        const notModified = recorder.revalidated !== undefined
        if (notModified || (result.kind !== 'store' && result.kind !== 'share')) socket.destroy()
        resolve({ result, status: recorder.status })
      })
    }
    const onClose = (): void => {
      if (recording !== undefined) return recording.abort('handler')
      resolve({ result: { kind: 'unreached' }, status: res.headersSent ? res.statusCode : undefined })
    }
    Object.defineProperty(req, MARKER, {
      value: {
        layer: subrequest.layer,
        key: subrequest.key,
        onReached,
        onOtherKey: () => {
          resolve({ result: { kind: 'other-key' }, status: undefined })
          socket.destroy()
        },
        revalidates: subrequest.revalidates,
      } satisfies SubrequestMarker,
    })
    // After the recording's own listener, which knows the cause.
    res.once('close', () => queueMicrotask(onClose))
    subrequest.signal.addEventListener('abort', () => socket.destroy(), { once: true })
    if (subrequest.signal.aborted) onClose()
    else subrequest.scope.runInAsyncScope(() => subrequest.dispatch(req, res))
  })
}

function requestOn(socket: NullSocket, { host, target, headers }: Subrequest): IncomingMessage {
  const req = new IncomingMessage(asSocket(socket))
  req.method = 'GET'
  req.url = target
  req.httpVersion = '1.1'
  req.httpVersionMajor = 1
  req.httpVersionMinor = 1
  req.headers = { ...headers, host }
  req.headersDistinct = Object.fromEntries(Object.entries(req.headers).map(([name, value]) => [name, [String(value)]]))
  req.rawHeaders = ['Host', host, ...Object.entries(headers).flat()]
  req.complete = true
  req.push(null)
  return req
}

/** The part of a socket that frameworks use. It has nothing to read, and discards every write. */
class NullSocket extends Duplex {
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  readonly remoteFamily: string | undefined
  readonly localAddress: string | undefined
  readonly localPort: number | undefined
  readonly encrypted: boolean

  constructor(peer: Socket, encrypted: boolean) {
    // Discarded text need not be encoded first.
    super({ decodeStrings: false })
    this.remoteAddress = peer.remoteAddress
    this.remotePort = peer.remotePort
    this.remoteFamily = peer.remoteFamily
    this.localAddress = peer.localAddress
    this.localPort = peer.localPort
    this.encrypted = encrypted
    // A handler may destroy the socket with an error. The recording reports it; unhandled, it would end the process.
    this.on('error', () => undefined)
  }

  override _read(): void {
    // The request has no body.
  }

  override _write(_chunk: unknown, _encoding: BufferEncoding, callback: () => void): void {
    callback()
  }

  /** Takes all corked chunks at once: each chunk that was left in the buffer at the end would get an error. */
  override _writev(_chunks: unknown, callback: () => void): void {
    callback()
  }

  setTimeout(): this {
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  destroySoon(): void {
    this.destroy()
  }

  address(): object {
    return {}
  }
}

/** Node's types require a whole socket where its code requires a stream. */
function asSocket(socket: NullSocket): Socket {
  return socket as unknown as Socket
}
