import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import type { ClientConnection } from './connection.ts'

/**
 * The part of a socket that apps use, with what the client's connection shows. It has nothing to read, and
 * discards every write.
 */
export class NullSocket extends Duplex {
  readonly server: EventEmitter | undefined
  readonly connecting: boolean = false
  readonly pending: boolean = false
  readonly bytesRead: number = 0
  readonly bytesWritten: number = 0
  readonly encrypted: boolean
  readonly #peer: ClientConnection['peer']

  /** `encrypted`: also where a proxy has decrypted the client's connection. */
  constructor({ server, peer, tls }: ClientConnection, encrypted: boolean) {
    // Discarded text need not be encoded first.
    super({ decodeStrings: false })
    this.server = server
    this.#peer = peer
    this.encrypted = encrypted
    Object.assign(this, peer, tls)
    // A handler may destroy the socket with an error. The recording reports it; unhandled, it would end
    // the process.
    this.on('error', () => undefined)
  }

  get readyState(): string {
    return this.destroyed ? 'closed' : 'open'
  }

  override _read(): void {
    // The request has no body.
  }

  override _write(_chunk: unknown, _encoding: BufferEncoding, callback: () => void): void {
    callback()
  }

  /**
   * Takes all corked chunks at once: each chunk that was left in the buffer at the end would get an error.
   */
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

  resetAndDestroy(): this {
    return this.destroy()
  }

  address(): object {
    const { localAddress: address, localFamily: family, localPort: port } = this.#peer
    return address === undefined ? {} : { address, family, port }
  }
}

/**
 * A socket that is also the stream of a subrequest which repeats a request over HTTP/2, for a handler that
 * looks at it. It emits `respond` for a response that is sent on the stream itself, of which Node's response
 * knows nothing.
 */
export class NullStream extends NullSocket {
  readonly id: number = 0
  readonly pushAllowed: boolean = false
  readonly session: undefined

  respond(): void {
    this.emit('respond')
  }

  respondWithFD(): void {
    this.emit('respond')
  }

  respondWithFile(): void {
    this.emit('respond')
  }

  additionalHeaders(): void {
    // Informational responses go to nobody.
  }

  /** Throws what Node throws for a client that accepts no pushes, as most browsers. */
  pushStream(): never {
    throw Object.assign(new Error('HTTP/2 client has disabled push streams'), { code: 'ERR_HTTP2_PUSH_DISABLED' })
  }
}

/** Node's types require a whole socket where its code requires a stream. */
export function asSocket(socket: NullSocket): Socket {
  return socket as unknown as Socket
}
