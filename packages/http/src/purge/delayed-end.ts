import type { ServerResponse } from 'node:http'
import { endRefuses, lengthOf, writeRefuses } from '../fields/body-arguments.ts'
import { isHeadSent, parseHead } from '../fields/head-arguments.ts'
import type { HeaderFields } from '../fields/header-fields.ts'
import { BODILESS } from '../response/response-head.ts'
import { type CallOriginal, replaceMethods } from '../capture/response-methods.ts'

/** Runs before the client gets the end of its response. Never rejects. */
type Act = (fields: HeaderFields) => Promise<void>

/**
 * Calls `act` with the fields of a 2xx or 3xx head, and sends the end of that response once `act` is done. The app sees a response that has
 * ended: what Node throws for a wrong argument is thrown to the handler, and `headersSent` and `writableEnded` are true.
 */
export function delayEnd(res: ServerResponse, act: Act): void {
  const original = replaceMethods(res, {
    writeHead: (args) => delayed.writeHead(args),
    write: (args) => delayed.write(args),
    end: (args) => delayed.end(args),
  })
  const delayed = new DelayedEnd(res, act, original)
}

class DelayedEnd {
  readonly #res: ServerResponse
  readonly #act: Act
  readonly #original: CallOriginal
  #acting: Promise<void> | undefined
  /** Settles when the end that waited is sent. */
  #waiting: Promise<void> | undefined
  /** The end is sent, or being sent: the `end` of HTTP/2 calls `write`. */
  #over = false

  constructor(res: ServerResponse, act: Act, original: CallOriginal) {
    this.#res = res
    this.#act = act
    this.#original = original
  }

  /** Node comes first: a head that it refuses is no success. */
  writeHead(args: readonly unknown[]): unknown {
    const result = this.#original('writeHead', args)
    const { status, fields } = parseHead(this.#res, args)
    if (isSuccess(status)) this.#acting ??= this.#act(fields)
    return result
  }

  write(args: readonly unknown[]): unknown {
    if (this.#waiting === undefined || this.#over || writeRefuses(args)) return this.#original('write', args)
    this.#afterEnd('write', args)
    return false
  }

  end(args: readonly unknown[]): unknown {
    const res = this.#res
    if (endRefuses(args)) return this.#original('end', args)
    if (!isHeadSent(res) && isSuccess(res.statusCode)) this.#sendHead(args)
    if (this.#waiting !== undefined) this.#afterEnd('end', args)
    else if (this.#acting === undefined) return this.#original('end', args)
    else this.#waiting = this.#endAfter(this.#acting, args)
    return res
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
  async #endAfter(acting: Promise<void>, args: readonly unknown[]): Promise<void> {
    const res = this.#res
    Object.defineProperty(res, 'writableEnded', { configurable: true, value: true })
    await acting
    this.#over = true
    Reflect.deleteProperty(res, 'writableEnded')
    // A layer outside has ended it by the methods it kept.
    if (res.writableEnded) return
    try {
      this.#original('end', args)
    } catch {
      res.destroy()
    }
  }

  /** After the end that waits: Node reports a write after an end. */
  #afterEnd(method: 'write' | 'end', args: readonly unknown[]): void {
    void this.#waiting?.then(() => this.#original(method, args)).catch(() => undefined)
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 400
}
