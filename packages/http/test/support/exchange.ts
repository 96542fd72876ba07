import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { Answer } from '../../src/response/answer.ts'
import { NodeExchange } from '../../src/node/node-exchange.ts'

/** The parts of a test's exchange: what happens when the road calls it. Default: nothing. */
interface Calls {
  readonly pass?: () => void
  readonly run?: () => void
  readonly send?: (answer: Answer) => void
  readonly fail?: () => void
}

/** A `GET http://shop.test/a` that came over no connection. */
export class TestExchange extends NodeExchange<IncomingMessage, ServerResponse> {
  readonly scheme = 'http'
  readonly host = 'shop.test'
  readonly target = '/a'
  readonly place = ''
  readonly decodesPath = true
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly #calls: Calls

  constructor(headers: Readonly<Record<string, string>> = {}, calls: Calls = {}, res?: ServerResponse) {
    super()
    this.req = res?.req ?? new IncomingMessage(new Socket())
    Object.assign(this.req, { method: this.req.method ?? 'GET', headers: { host: 'shop.test', ...headers } })
    this.res = res ?? new ServerResponse(this.req)
    this.#calls = calls
  }

  get request(): IncomingMessage {
    return this.req
  }

  get response(): ServerResponse {
    return this.res
  }

  field(): undefined {
    return undefined
  }

  rewriteUrl(): undefined {
    return undefined
  }

  pass(): void {
    this.#calls.pass?.()
  }

  run(): void {
    this.#calls.run?.()
  }

  send(answer: Answer): void {
    this.#calls.send?.(answer)
  }

  fail(): void {
    this.#calls.fail?.()
  }

  dispatch(): void {
    // No test sends a subrequest.
  }
}
