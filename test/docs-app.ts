import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { directivesOf, type NodeMiddleware } from '@cattlegrid/http'
import type { AdapterServer, ContractAnswer, ContractRequest, ContractRoute } from '@cattlegrid/testkit'

/** The little framework that docs/writing-an-adapter.md takes for granted. */
export interface App {
  readonly listener: RequestListener
  /** Declares a route with this middleware between its `before` and its handler. */
  declare(route: ContractRoute, middleware: NodeMiddleware): void
  listen(): Promise<AdapterServer>
}

interface Declared {
  readonly methods: readonly string[]
  readonly path: RegExp
  readonly listener: RequestListener
}

export function createApp(): App {
  const table: Declared[] = []
  const listener: RequestListener = (req, res) => {
    const [path = ''] = (req.url ?? '').split('?')
    const found = table.find((one) => one.path.test(path) && one.methods.includes(req.method ?? ''))
    if (found === undefined) res.writeHead(404).end('nothing here')
    else found.listener(req, res)
  }
  return {
    listener,
    declare({ method = 'GET', path, before, handle }, middleware) {
      const inner: RequestListener = (req, res) =>
        middleware(req, res, (error) => {
          if (error === undefined) void answerBy(res, () => handle(seenBy(req, res)))
          else answerError(res, error as HttpError)
        })
      table.push({
        methods: method === 'GET' ? ['GET', 'HEAD'] : [method],
        path: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`),
        listener: behind(before, inner),
      })
    },
    listen: () => listen(listener),
  }
}

/** An error as frameworks with `next(error)` know it. */
interface HttpError extends Error {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
}

function answerError(res: ServerResponse, { status = 500, headers, message }: HttpError): void {
  // Its length is named, because Node keeps that of an `end` that it refused.
  res.writeHead(status, { ...headers, 'content-type': 'text/plain', 'content-length': Buffer.byteLength(message) })
  res.end(message)
}

function behind(before: ContractRoute['before'], inner: RequestListener): RequestListener {
  return (req, res) => {
    const door = before?.(seenBy(req, res))
    for (const [name, value] of Object.entries(door?.headers ?? {})) res.setHeader(name, value)
    door?.wrap?.(res)
    if (door?.refuse === true) res.writeHead(401).end('who are you?')
    else inner(req, res)
  }
}

async function listen(listener: RequestListener): Promise<AdapterServer> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

function seenBy(req: IncomingMessage, res: ServerResponse): ContractRequest {
  const { method = '', url = '', headers } = req
  const query = Object.fromEntries(new URLSearchParams(url.split('?')[1]))
  return { method, url, headers, query, directives: directivesOf(res), raw: { req, res } }
}

async function answerBy(res: ServerResponse, handle: () => Promise<ContractAnswer>): Promise<void> {
  try {
    write(res, await handle())
  } catch (error) {
    if (!res.headersSent) answerError(res, error instanceof Error ? error : new Error(String(error)))
  }
}

function write(res: ServerResponse, answer: ContractAnswer): void {
  if (answer.send === 'raw') return answer.write(res)
  res.statusCode = answer.status
  for (const [name, value] of Object.entries(answer.headers)) res.setHeader(name, value)
  if (answer.send === 'json') res.setHeader('content-type', 'application/json').end(JSON.stringify(answer.body))
  else if (answer.send === 'stream') streamTo(res, answer.body, answer.trailers)
  else if (answer.send === 'nothing') res.end()
  else res.end(answer.body)
}

function streamTo(res: ServerResponse, body: Readable, trailers: Readonly<Record<string, string>> | undefined): void {
  if (trailers === undefined) return void pipeline(body, res, () => undefined)
  res.setHeader('trailer', Object.keys(trailers).join(', '))
  body.once('end', () => {
    res.addTrailers(trailers)
    res.end()
  })
  body.pipe(res, { end: false })
}
