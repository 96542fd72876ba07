import type { ServerResponse } from 'node:http'
import { endRefuses, lengthOf, writeRefuses } from '../fields/body-arguments.ts'
import { parseHead } from '../fields/head-arguments.ts'
import { isHeadSent, showAsEnded, showAsOpen } from '../fields/response-state.ts'
import type { HeaderFields } from '../fields/header-fields.ts'
import { DestroyGuard } from '../capture/destroy-guard.ts'
import { BODILESS } from '../response/response-head.ts'
import { type CallOriginal, replaceMethods } from '../capture/response-methods.ts'

/** Runs before the client gets the end of its response. Never rejects. */
type BeforeEnd = (fields: HeaderFields) => Promise<void>

/**
 * Calls `beforeEnd` with the fields of a 2xx or 3xx head, and sends the end of that response once that is done. Until then the app sees a response
 * that has ended: what Node throws for a wrong argument is thrown to the handler, and `headersSent`, `writableEnded` and `finished` are true. If it
 * then destroys the response or its connection, that follows the end.
 */
export function delayEnd(res: ServerResponse, beforeEnd: BeforeEnd): void {
  const isNodes = !Object.hasOwn(res, 'write') && !Object.hasOwn(res, 'end')
  const original = replaceMethods(res, {
    writeHead: (...args) => delayed.writeHead(args),
    write: (...args) => delayed.write(args),
    end: (...args) => delayed.end(args),
  })
  const delayed = new DelayedEnd(res, beforeEnd, original, isNodes)
}

class DelayedEnd {
  readonly #res: ServerResponse
  readonly #beforeEnd: BeforeEnd
  readonly #original: CallOriginal
  /** No layer outside has replaced the methods, as compression does, which writes the response after the handler's end. */
  readonly #isNodes: boolean
  /** Set as soon as `beforeEnd` was called. */
  #beforeEndRuns: Promise<void> | undefined
  /** Settles when the delayed end is sent; undefined: the handler has not ended the response, or its end is not delayed. */
  #delayed: Promise<void> | undefined
  /** The end is sent, or being sent: the `end` of HTTP/2 calls `write`. */
  #endSent = false

  constructor(res: ServerResponse, beforeEnd: BeforeEnd, original: CallOriginal, isNodes: boolean) {
    this.#res = res
    this.#beforeEnd = beforeEnd
    this.#original = original
    this.#isNodes = isNodes
  }

  /** Node comes first: a head that it refuses is no success. */
  writeHead(args: readonly unknown[]): unknown {
    const result = this.#original('writeHead', args)
    const { status, fields } = parseHead(this.#res, args)
    if (isSuccess(status)) this.#beforeEndRuns ??= this.#beforeEnd(fields)
    return result
  }

  write(args: readonly unknown[]): unknown {
    if (this.#delayed === undefined || this.#endSent || writeRefuses(args)) return this.#original('write', args)
    this.#afterEnd('write', args)
    return false
  }

  end(args: readonly unknown[]): unknown {
    const res = this.#res
    if (endRefuses(args)) return this.#original('end', args)
    if (!isHeadSent(res) && isSuccess(res.statusCode)) this.#fixHead(args)
    if (this.#delayed !== undefined) this.#afterEnd('end', args)
    else if (this.#beforeEndRuns === undefined) return this.#original('end', args)
    else this.#delayed = this.#endAfter(this.#beforeEndRuns, args)
    return res
  }

  /** A layer outside may still change the body, and so its length, in the delayed end: that makes the head. */
  #fixHead(args: readonly unknown[]): void {
    const res = this.#res
    if (this.#isNodes) this.#sendHead(args)
    else this.#beforeEndRuns ??= this.#beforeEnd(parseHead(res, [res.statusCode]).fields)
  }

  /** Node makes an implicit head inside `end`, where it knows the length. Here `end` comes later than the head. */
  #sendHead(args: readonly unknown[]): void {
    const res = this.#res
    const framed = ['content-length', 'transfer-encoding', 'trailer'].some((name) => res.hasHeader(name))
    const declares = !framed && !BODILESS.has(res.statusCode)
    if (declares) res.setHeader('content-length', lengthOf(args))
    try {
      res.writeHead(res.statusCode)
    } catch (error) {
      // The error handler's response has another length.
      if (declares) res.removeHeader('content-length')
      throw error
    }
  }

  /** Never rejects. */
  async #endAfter(running: Promise<void>, args: readonly unknown[]): Promise<void> {
    const res = this.#res
    let destroy: (() => void) | undefined
    const guard = new DestroyGuard(res, (again) => {
      destroy ??= again
    })
    showAsEnded(res, this.#isNodes)
    // Node answers a layer outside that ends the response now, by a method it kept, by an error event, which must not end the process.
    if (this.#isNodes) res.on('error', ignored)
    await running
    this.#endSent = true
    showAsOpen(res)
    guard.disable()
    try {
      // A layer outside may have ended it by the methods it kept.
      if (!res.writableEnded) this.#original('end', args)
      destroy?.()
    } catch {
      res.destroy()
    }
  }

  /** After the delayed end, so that Node reports a write after an end. */
  #afterEnd(method: 'write' | 'end', args: readonly unknown[]): void {
    void this.#delayed?.then(() => this.#original(method, args)).catch(() => undefined)
  }
}

function ignored(): void {}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 400
}
