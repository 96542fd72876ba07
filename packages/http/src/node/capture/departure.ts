import type { IncomingMessage, ServerResponse } from 'node:http'
import { connectionOf, delayCleanUps, isToldOfClose } from './close-listeners.ts'
import { onLeaving } from './leaving-listeners.ts'
import { isTelling, unwatched, watchState } from './state-reads.ts'

/** The handler whose client may leave. */
interface LeftHandler {
  /** Resolves once nothing that the handler learns can change what others get. */
  readonly settled: Promise<unknown>
  /**
   * False for a layer outside that runs now, and once nothing that the handler learns can change
   * its response.
   */
  mayLearn(): boolean
  /** Called before the connection is destroyed; true: the handler does it. */
  onDestroy(): boolean
  /** Called once, when the handler may know that its client has left. */
  onLearned(): void
}

/**
 * Whether a handler may know that its client has left: it has seen its response end early then, and may have
 * cut it short. That holds if anybody who shares the request with it listens for the end, and if it reads the
 * state of the request or of its connection.
 */
export class Departure {
  readonly #req: IncomingMessage
  readonly #res: ServerResponse
  readonly #handler: LeftHandler
  /** Those of layers outside, which are delayed. */
  readonly #cleanUps: readonly Function[]
  #begun = false
  #learned = false
  /** Ends the watch over the connection. */
  readonly stop: () => void

  constructor(req: IncomingMessage, res: ServerResponse, handler: LeftHandler) {
    this.#req = req
    this.#res = res
    this.#handler = handler
    this.#cleanUps = delayCleanUps(req, handler.settled)
    this.stop = onLeaving(connectionOf(req), (how) => {
      if (how === 'destroy' ? !handler.onDestroy() : this.#isLeavingAtEnd) this.begin()
    })
  }

  /**
   * Call it when the connection ends, which is after its first signs: a listener may have come meanwhile.
   * True: the handler may know.
   */
  begin(): boolean {
    if (!this.#begun) {
      this.#begun = true
      watchState(this.#req, this.#res, () => this.#learn())
    }
    if (unwatched(() => isToldOfClose(this.#req, this.#res, this.#cleanUps))) this.#learn()
    return this.#learned
  }

  /**
   * True if the code that reads a property of the response by this accessor gets the truth from now on.
   * Node's functions for streams do not.
   */
  isShownBy(accessor: Function): boolean {
    if (!this.#learned && isTelling(accessor, false)) this.#learn()
    return this.#learned
  }

  #learn(): void {
    if (this.#learned || !this.#handler.mayLearn()) return
    this.#learned = true
    this.#handler.onLearned()
  }

  /**
   * A client over HTTP/1 that closes its side leaves, unless the server allows that. Over HTTP/2 only its
   * request has ended.
   */
  get #isLeavingAtEnd(): boolean {
    const { server } = this.#req.socket as { readonly server?: { readonly httpAllowHalfOpen?: boolean } }
    return this.#req.httpVersionMajor === 1 && server?.httpAllowHalfOpen !== true
  }
}
