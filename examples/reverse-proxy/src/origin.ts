import {
  Agent,
  type ClientRequest,
  type IncomingMessage,
  type InformationEvent,
  request,
  type ServerResponse,
} from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { pipeline } from 'node:stream/promises'
import { fieldsForNextHop, pairsOf } from './hop-by-hop.ts'

/** A request fails when the origin sends nothing for this long, ms. */
const PATIENCE = 30_000
/** Retrying these is safe (RFC 9110 section 9.2.2). */
const IDEMPOTENT = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE'])

/** The server behind the proxy, over keep-alive connections. */
export class Origin {
  readonly #url: URL
  readonly #agent: Agent
  readonly #secure: boolean

  constructor(url: URL) {
    this.#url = url
    this.#secure = url.protocol === 'https:'
    this.#agent = this.#secure ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
  }

  close(): void {
    this.#agent.destroy()
  }

  /** Streams the request to the origin and the response to the client. When one side aborts, the other side's connection is closed. */
  forward(req: IncomingMessage, res: ServerResponse, agent: Agent | false = this.#agent): void {
    const hasBody = req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0'
    const sent = this.#send(req, agent)
    const abandon = (): void => {
      if (!res.writableFinished) sent.destroy()
    }
    res.once('close', abandon)
    sent.on('information', (interim) => passInterim(interim, req, res))
    let answered = false
    sent.once('response', (answer) => {
      answered = true
      void answerWith(answer, res)
    })
    sent.once('timeout', () => sent.destroy(new Error('the origin is silent')))
    // An `error` event without a listener ends the process. A second error adds nothing to the first.
    sent.on('error', () => undefined)
    sent.once('error', (error: NodeJS.ErrnoException) => {
      res.off('close', abandon)
      // Of bytes after a whole response Node makes an error, too. A response that is not whole fails by itself.
      if (res.destroyed || answered) return
      // The origin closed a keep-alive connection just as it was reused: retry once, on a new connection.
      const repeats = sent.reusedSocket && error.code === 'ECONNRESET' && !hasBody && IDEMPOTENT.has(req.method ?? '')
      if (repeats && !res.headersSent) this.forward(req, res, false)
      else fail(error, res)
    })
    if (!hasBody) sent.end()
    else pipeline(req, sent).catch(() => undefined)
  }

  #send(req: IncomingMessage, agent: Agent | false): ClientRequest {
    const headers = fieldsForNextHop(req.rawHeaders, req.httpVersion)
    if (req.headers['transfer-encoding'] !== undefined) headers.push('Transfer-Encoding', 'chunked')
    else if (req.headers['content-length'] === undefined && !BODILESS.has(req.method ?? ''))
      headers.push('Content-Length', '0')
    const { hostname, port } = this.#url
    const options = {
      agent,
      hostname: hostname.replace(/^\[(.*)\]$/, '$1'),
      port,
      method: req.method,
      path: pathOf(req),
      headers: withHost(headers, this.#url),
      timeout: PATIENCE,
    }
    return this.#secure ? secureRequest(options) : request(options)
  }
}

/** Without a length, requests with these methods have no body. */
const BODILESS = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'DELETE'])

/** The request target as it was before Express shortened it; of an absolute one, its path and query (RFC 9112 section 3.2.1). */
function pathOf(req: IncomingMessage): string {
  const { originalUrl = req.url ?? '/' } = req as { readonly originalUrl?: string }
  return originalUrl.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '').replace(/#.*/s, '') || '/'
}

/** A request of HTTP/1.0 may have no `Host`. */
function withHost(headers: readonly string[], { host }: URL): readonly string[] {
  return pairsOf(headers).some(([name]) => name.toLowerCase() === 'host') ? headers : ['Host', host, ...headers]
}

async function answerWith(answer: IncomingMessage, res: ServerResponse): Promise<void> {
  const { statusCode = 502, statusMessage = '', rawHeaders, httpVersion, rawTrailers } = answer
  try {
    // Before the fields: the lifetime of an error is stored if it was declared for the error.
    res.statusCode = statusCode
    res.statusMessage = statusMessage
    for (const [name, value] of pairsOf(fieldsForNextHop(rawHeaders, httpVersion))) res.appendHeader(name, value)
    res.writeHead(statusCode)
    await pipeline(answer, res, { end: false })
    if (rawTrailers.length > 0)
      res.addTrailers(pairsOf(rawTrailers).map(([name, value]): [string, string] => [name, value]))
    res.end()
  } catch {
    // A truncated response must not look complete.
    answer.destroy()
    res.destroy()
  }
}

/**
 * Passes an interim response on (RFC 9110 section 15.2), unless the client speaks HTTP/1.0, which has none. Node has methods for a few of them only, and they
 * throw for some values. A client whose earlier response is still under way on the connection gets the final response only.
 */
function passInterim(interim: InformationEvent, req: IncomingMessage, res: ServerResponse): void {
  if (res.headersSent || req.httpVersion === '1.0') return
  const { statusCode, statusMessage, rawHeaders, httpVersion } = interim
  const lines = pairsOf(fieldsForNextHop(rawHeaders, httpVersion)).map(([name, value]) => `${name}: ${value}\r\n`)
  res.socket?.write(`HTTP/1.1 ${statusCode} ${statusMessage}\r\n${lines.join('')}\r\n`, 'latin1')
}

/** 502: the origin sent something that is not HTTP. 504: the origin did not answer. */
function fail(error: NodeJS.ErrnoException, res: ServerResponse): void {
  if (res.headersSent) return void res.destroy()
  const garbled = error.code?.startsWith('HPE_') === true
  res.writeHead(garbled ? 502 : 504, { 'Content-Type': 'text/plain' })
  res.end(garbled ? 'The origin did not answer with HTTP.\n' : 'The origin does not answer.\n')
}
