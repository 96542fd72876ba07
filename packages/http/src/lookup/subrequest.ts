import type { AsyncResource } from 'node:async_hooks'
import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { RecordedResponse } from '../response/recorded-response.ts'
import type { Recorded, Recorder } from '../capture/recorder.ts'

const MARKER = Symbol.for('cattlegrid.subrequest')

/** Rides on a request of our own, until it reaches the layer that sent it. */
export interface SubrequestMarker {
  readonly layer: string
  /** The layer runs the handler for this request, and this is what takes its answer down. */
  onReached(recorder: Recorder): void
  /** The stored answer whose validators it carries. */
  readonly revalidates: RecordedResponse | undefined
}

/** The mark of a request of our own; undefined for one from the network, where no field can forge it. */
export function subrequestMarkerOf(req: IncomingMessage): SubrequestMarker | undefined {
  return (req as { [MARKER]?: SubrequestMarker })[MARKER]
}

/** Whether this request is a refresh of cattlegrid's own: for the `skip` of loggers, rate limiters and sessions above the cache. */
export function isRefresh(req: IncomingMessage): boolean {
  return subrequestMarkerOf(req) !== undefined
}

export interface Subrequest {
  readonly layer: string
  readonly scheme: string
  readonly host: string
  readonly target: string
  /** The fields in the key and in `Vary`, and those that the route names. */
  readonly headers: Readonly<Record<string, string>>
  readonly revalidates?: RecordedResponse | undefined
  /** The request that gave rise to it: the new one seems to come from the same peer, whom the framework trusts or not. */
  readonly parent: IncomingMessage
  /** Ends it, whatever the handler does. */
  readonly signal: AbortSignal
  readonly scope: AsyncResource
  dispatch(req: IncomingMessage, res: ServerResponse): void
}

/** `unreached`: something above the layer answered, such as an authentication that saw no credentials. */
export type SubrequestResult = Recorded | { readonly kind: 'unreached' }

/**
 * Sends a request of our own through the whole application, and resolves to what the layer that sent it took down. It carries the method, the
 * URL, the host and the fields that chose the entry, and nothing else of any client (RFC 9111 section 4.3.1): no cookie, no credentials.
 */
export function sendSubrequest(subrequest: Subrequest): Promise<SubrequestResult> {
  const socket = new NullSocket(subrequest.parent.socket, subrequest.scheme === 'https')
  const req = requestOn(socket, subrequest)
  const res = new ServerResponse(req)
  res.shouldKeepAlive = false
  res.assignSocket(asSocket(socket))
  // Node's server does this for sockets of its own; without it a handler that pipes would wait for ever.
  socket.on('drain', () => res.emit('drain'))
  res.once('finish', () => {
    req.resume()
    // A moment later: a stream that is destroyed by what it tells of a write makes an error, with its stack, for writes that there are not.
    queueMicrotask(() => socket.destroy())
  })
  return new Promise((resolve) => {
    let reached: Recorder | undefined
    const begin = (recorder: Recorder): void => {
      reached = recorder
      void recorder.done.then((recorded) => {
        // What nobody may have goes on for nobody: it may be endless.
        const withheld = recorder.revalidated !== undefined
        if (withheld || (recorded.kind !== 'store' && recorded.kind !== 'share')) socket.destroy()
        resolve(recorded)
      })
    }
    const closed = (): void => (reached === undefined ? resolve({ kind: 'unreached' }) : reached.cutOff('handler'))
    Object.defineProperty(req, MARKER, {
      value: {
        layer: subrequest.layer,
        onReached: begin,
        revalidates: subrequest.revalidates,
      } satisfies SubrequestMarker,
    })
    // After the recording's own listener, which knows more.
    res.once('close', () => queueMicrotask(closed))
    subrequest.signal.addEventListener('abort', () => socket.destroy(), { once: true })
    if (subrequest.signal.aborted) closed()
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

/** The part of a socket that frameworks look at: reads nothing, swallows everything. */
class NullSocket extends Duplex {
  readonly remoteAddress: string | undefined
  readonly remotePort: number | undefined
  readonly remoteFamily: string | undefined
  readonly localAddress: string | undefined
  readonly localPort: number | undefined
  readonly encrypted: boolean

  constructor(peer: Socket, encrypted: boolean) {
    // What is swallowed need not be made bytes of before.
    super({ decodeStrings: false })
    this.remoteAddress = peer.remoteAddress
    this.remotePort = peer.remotePort
    this.remoteFamily = peer.remoteFamily
    this.localAddress = peer.localAddress
    this.localPort = peer.localPort
    this.encrypted = encrypted
    // The handler's side may be torn down with an error: that is the recording's news, not the process's.
    this.on('error', () => undefined)
  }

  override _read(): void {
    // Nothing ever comes.
  }

  override _write(_chunk: unknown, _encoding: BufferEncoding, callback: () => void): void {
    callback()
  }

  /** All that was corked at once: what is left when the answer is over would be told an error, one for each chunk. */
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

/** Node's types want a whole socket where its code wants a stream. */
function asSocket(socket: NullSocket): Socket {
  return socket as unknown as Socket
}
