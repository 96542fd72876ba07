import { ServerResponse } from 'node:http'
import { Http2ServerResponse } from 'node:http2'
import { endRefuses, lengthOf, writeRefuses } from '../fields/body-arguments.ts'
import { parseHead } from '../fields/head-arguments.ts'
import { isHeadSent, showAsEnded, showAsOpen } from '../fields/response-state.ts'
import type { HeaderFields } from '../fields/header-fields.ts'
import { DestroyGuard } from './capture/destroy-guard.ts'
import { BODILESS } from '../response/response-head.ts'
import { type CallOriginal, replaceMethods } from './capture/response-methods.ts'

/** Runs before the client gets the end of its response. Never rejects. */
type BeforeEnd = (fields: HeaderFields) => Promise<void>

/**
 * Calls `beforeEnd` with the fields of a 2xx or 3xx head, and sends the end of that response once that is
 * done. Until then the app sees a response that has ended: what Node throws for a wrong argument, or for a
 * field that comes after the end, is thrown to it, and `headersSent` and `writableEnded` are true, and
 * `finished`, too, unless a layer outside may still write. If it then destroys the response or its
 * connection, that follows the end.
 */
export function delayEnd(res: ServerResponse, beforeEnd: BeforeEnd): void {
  const writesToNode = isNodes(res)
  const original = replaceMethods(res, {
    writeHead: (...args) => delayed.writeHead(args),
    write: (...args) => delayed.write(args),
    end: (...args) => delayed.end(args),
  })
  const delayed = new DelayedEnd(res, beforeEnd, original, writesToNode)
}

class DelayedEnd {
  readonly #res: ServerResponse
  readonly #beforeEnd: BeforeEnd
  readonly #original: CallOriginal
  /**
   * `write` and `end` are Node's: no layer outside has replaced them, as compression does, which writes the
   * response after the handler's end.
   */
  readonly #writesToNode: boolean
  /** Set as soon as `beforeEnd` was called. */
  #beforeEndRuns: Promise<void> | undefined
  /**
   * Settles when the delayed end is sent; undefined: the handler has not ended the response, or its end is
   * not delayed.
   */
  #endSettled: Promise<void> | undefined
  /** The end is sent, or being sent: the `end` of HTTP/2 calls `write`. */
  #endSent = false

  constructor(res: ServerResponse, beforeEnd: BeforeEnd, original: CallOriginal, writesToNode: boolean) {
    this.#res = res
    this.#beforeEnd = beforeEnd
    this.#original = original
    this.#writesToNode = writesToNode
  }

  /** Node comes first: a head that it refuses is no success. */
  writeHead(args: readonly unknown[]): unknown {
    const result = this.#original('writeHead', args)
    const { status, fields } = parseHead(this.#res, args)
    if (isSuccess(status)) this.#beforeEndRuns ??= this.#beforeEnd(fields)
    return result
  }

  write(args: readonly unknown[]): unknown {
    if (this.#endSettled === undefined || this.#endSent || writeRefuses(args)) return this.#original('write', args)
    this.#callAfterEnd('write', args)
    return false
  }

  end(args: readonly unknown[]): unknown {
    const res = this.#res
    if (endRefuses(args)) return this.#original('end', args)
    if (!isHeadSent(res) && isSuccess(res.statusCode)) this.#startBeforeEnd(args)
    if (this.#endSettled !== undefined) this.#callAfterEnd('end', args)
    else if (this.#beforeEndRuns === undefined) return this.#original('end', args)
    else this.#endSettled = this.#sendEndAfter(this.#beforeEndRuns, args)
    return res
  }

  /**
   * A layer outside may still change the body, and so its length, in the delayed end: then that makes
   * the head.
   */
  #startBeforeEnd(args: readonly unknown[]): void {
    const res = this.#res
    // It calls `writeHead` above.
    if (this.#writesToNode) this.#sendHead(args)
    else this.#beforeEndRuns ??= this.#beforeEnd(parseHead(res, [res.statusCode]).fields)
  }

  /**
   * Node makes an implicit head inside `end`, where it knows the length. Here `end` comes later than
   * the head.
   */
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
  async #sendEndAfter(running: Promise<void>, args: readonly unknown[]): Promise<void> {
    const res = this.#res
    let destroy: (() => void) | undefined
    const guard = new DestroyGuard(res, (again) => {
      destroy ??= again
    })
    showAsEnded(res, this.#writesToNode)
    // What is written after the end, or by a layer outside that has kept Node's `end`, gets an error event,
    // which must not end the process.
    res.on('error', ignored)
    const unlock = isHeadSent(res) ? ignored : lockHead(res)
    await running
    this.#endSent = true
    unlock()
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
  #callAfterEnd(method: 'write' | 'end', args: readonly unknown[]): void {
    void this.#endSettled?.then(() => this.#original(method, args)).catch(() => undefined)
  }
}

function ignored(): void {}

const nodes = [ServerResponse.prototype, Http2ServerResponse.prototype].map((prototype) => ({
  write: Reflect.get(prototype, 'write'),
  end: Reflect.get(prototype, 'end'),
}))

/**
 * True if `write` and `end` are Node's own. A layer may have replaced them on the response, or on a prototype
 * of it.
 */
function isNodes(res: ServerResponse): boolean {
  return nodes.some(({ write, end }) => Reflect.get(res, 'write') === write && Reflect.get(res, 'end') === end)
}

/** The methods that throw once the head of a response is sent. */
const OF_HEAD = ['setHeader', 'setHeaders', 'appendHeader', 'removeHeader', 'writeHead'] as const

/**
 * Keeps the head as it is, although Node has not got it: a second answer of the app gets Node's error. A
 * layer outside that has kept Node's `end`, and answers now, gets its implicit head, which Node makes by
 * `_implicitHeader`. Returns a function that ends this.
 */
function lockHead(res: ServerResponse): () => void {
  const { statusCode, statusMessage } = res
  const writeHead = Reflect.get(res, 'writeHead')
  const locked: readonly (readonly [string, unknown])[] = [
    ...OF_HEAD.map((name) => [name, refuseField] as const),
    ['flushHeaders', ignored],
    ['_implicitHeader', () => Reflect.apply(writeHead, res, [res.statusCode])],
  ]
  const before = locked.map(([name]) => [name, Object.getOwnPropertyDescriptor(res, name)] as const)
  for (const [name, value] of locked) Object.defineProperty(res, name, { configurable: true, writable: true, value })
  return () => {
    for (const [name, own] of before)
      if (own === undefined) Reflect.deleteProperty(res, name)
      else Object.defineProperty(res, name, own)
    Object.assign(res, { statusCode, statusMessage })
  }
}

function refuseField(): never {
  const message = 'Cannot change headers after they are sent to the client'
  throw Object.assign(new Error(message), { code: 'ERR_HTTP_HEADERS_SENT' })
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 400
}
