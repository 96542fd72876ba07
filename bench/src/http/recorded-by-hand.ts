// The floor of a request whose handler runs for others, too: each part of the job by the least code that does it, without the rules that say when.
import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { LRUCache } from 'lru-cache'

interface Recorded {
  readonly status: number
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

type Method = (...args: unknown[]) => unknown
type Methods = Record<'writeHead' | 'write' | 'end', Method>

const HIDDEN = ['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since', 'if-range', 'range']
const PERSONAL = ['user', 'account', 'auth', 'oidc', 'session', 'sessionID', 'cookies', 'signedCookies']
const READ = Symbol('read')
/** All requests share them, which is what V8 likes best. */
const accessors = Object.fromEntries(PERSONAL.map((name) => [name, accessorOf(Symbol(name))]))
/** Tells what the handler does from what the layers around it do. */
const scope = new AsyncLocalStorage<Promise<Recorded>>()

/** Returns what runs a handler, records its response and keeps it. */
export function recorderByHand(): (req: IncomingMessage, res: ServerResponse, handler: () => unknown) => unknown {
  const kept = new LRUCache<string, Recorded>({ max: 10_000, ttl: 3_600_000 })
  const running = new Map<string, Promise<Recorded>>()
  return (req, res, handler) => {
    const key = `${req.headers.host}${req.url}`
    hideConditions(req)
    Object.defineProperties(req, accessors)
    res.setHeader('Cache-Status', 'bench; fwd=uri-miss; stored')
    const recorded = record(res)
    running.set(key, recorded)
    void recorded.then((response) => {
      running.delete(key)
      if (Reflect.get(req, READ) !== true) kept.set(key, response)
    })
    return scope.run(recorded, handler)
  }
}

function hideConditions({ headers, rawHeaders }: IncomingMessage): void {
  for (const name of HIDDEN) if (name in headers) delete headers[name]
  for (let at = rawHeaders.length - 2; at >= 0; at -= 2)
    if (HIDDEN.includes(rawHeaders[at]?.toLowerCase() ?? '')) rawHeaders.splice(at, 2)
}

function accessorOf(own: symbol): PropertyDescriptor & ThisType<Record<symbol, unknown>> {
  return {
    configurable: true,
    get() {
      this[READ] = true
      return this[own]
    },
    set(value: unknown) {
      this[own] = value
    },
  }
}

function record(res: ServerResponse): Promise<Recorded> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const methods = res as unknown as Methods
    const { writeHead, write, end } = methods
    const copy = (chunk: unknown): void => {
      if (typeof chunk === 'string' || Buffer.isBuffer(chunk)) chunks.push(Buffer.from(chunk as string))
    }
    let head: unknown
    methods.writeHead = (...args) => {
      head = args[1]
      return writeHead.apply(res, args)
    }
    methods.write = (...args) => {
      copy(args[0])
      return write.apply(res, args)
    }
    methods.end = (...args) => {
      copy(args[0])
      const ended = end.apply(res, args)
      const body = Buffer.concat(chunks)
      const fields = { ...res.getHeaders(), ...(head as object | undefined) }
      const tag = 'etag' in fields ? {} : { etag: createHash('sha1').update(body).digest('base64') }
      resolve({ status: res.statusCode, fields: { ...fields, ...tag }, body })
      return ended
    }
  })
}
