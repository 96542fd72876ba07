import { type Handler, pieces, slowly, streamOf } from './streams.ts'

type Fields = NonNullable<ResponseInit['headers']>

/** One way to answer. */
export interface Way {
  readonly name: string
  readonly handler: Handler
  /** Of the client. Default: a GET without fields. */
  readonly request?: RequestInit
  /** How often the handler runs for two requests, one after the other. Default: 1, the second is a hit. */
  readonly runs?: number
  /** The handler fails: the second request gets a 503, because its key cools down. */
  readonly fails?: boolean
}

const bytes = new Uint8Array([0, 255, 128, 10, 13, 0])
const large = 'cattle grid\n'.repeat(180_000)
const withFields = (headers: Fields, init: ResponseInit = {}): Handler => {
  return () => new Response('page', { ...init, headers })
}
const ofStatus = (status: number, headers: Fields = {}): Handler => {
  return () => new Response(`status ${status}`, { status, headers })
}
const cookies: Fields = [
  ['set-cookie', 'a=1; Path=/'],
  ['set-cookie', 'b=2; Expires=Wed, 09 Jun 2032 10:18:14 GMT'],
]

const bodies: readonly Way[] = [
  { name: 'a text', handler: () => new Response('grid') },
  { name: 'an empty text', handler: () => new Response('') },
  { name: 'no body', handler: () => new Response() },
  { name: 'a null body', handler: () => new Response(null, { headers: { 'x-none': 'yes' } }) },
  { name: 'JSON', handler: () => Response.json({ grid: ['wide', 2, null], text: 'Güte' }) },
  { name: 'bytes', handler: () => new Response(bytes) },
  { name: 'an ArrayBuffer', handler: () => new Response(bytes.slice().buffer) },
  { name: 'a part of a larger buffer', handler: () => new Response(Buffer.from('--grid--').subarray(2, 6)) },
  { name: 'a Blob', handler: () => new Response(new Blob([bytes], { type: 'image/x-grid' })) },
  { name: 'a form', handler: () => new Response(new URLSearchParams({ a: '1', b: 'ü' })) },
  { name: 'text of two, three and four bytes a character', handler: () => new Response('ü€🐄') },
  { name: 'a text over the limit of a body', handler: () => new Response(large), runs: 2 },
  { name: 'a body that was read before', handler: usedBody, fails: true },
]

const streams: readonly Way[] = [
  { name: 'a stream that is there at once', handler: () => new Response(streamOf(['a', 'b', 'c'])) },
  { name: 'a stream without a chunk', handler: () => new Response(streamOf([])) },
  { name: 'a stream with empty chunks', handler: () => new Response(streamOf(['', 'a', '', 'b', ''])) },
  { name: 'a slow stream', handler: () => new Response(slowly(['a', 'b', 'c', 'd'])) },
  { name: 'a stream of 1 MiB less a little', handler: () => new Response(streamOf(pieces(1000 * 1024))) },
  { name: 'a stream of 2 MiB', handler: () => new Response(streamOf(pieces(2 * 1024 * 1024))), runs: 2 },
  { name: 'a slow stream of 2 MiB', handler: () => new Response(slowly(pieces(2 * 1024 * 1024))), runs: 2 },
  { name: 'a stream that cuts characters', handler: () => new Response(slowly([...Buffer.from('ü€🐄')].map(byte))) },
  { name: 'a stream of strings', handler: () => new Response(streamOf(['ü', '€', '🐄'], String)) },
  { name: 'a slow stream of strings', handler: () => new Response(slowly(['ü', '€', '🐄'], String)) },
  { name: 'a stream that fails at once', handler: () => new Response(streamOf([new Error('cut')])), fails: true },
  { name: 'a stream that fails midway', handler: () => new Response(slowly(['a', new Error('cut')])), fails: true },
  { name: 'a byte stream', handler: () => new Response(byteStream()) },
]

const statuses: readonly Way[] = [
  { name: 'a 201', handler: ofStatus(201, { location: '/new' }), runs: 2 },
  { name: 'a 203', handler: ofStatus(203) },
  { name: 'a 204', handler: () => new Response(null, { status: 204, headers: { 'x-none': 'yes' } }) },
  { name: 'a 205', handler: () => new Response(null, { status: 205 }), runs: 2 },
  { name: 'a 206 to nobody', handler: ofStatus(206, { 'content-range': 'bytes 0-9/20' }), runs: 2 },
  { name: 'a 304 to nobody', handler: () => new Response(null, { status: 304, headers: { etag: '"v1"' } }), runs: 2 },
  { name: 'a 301 of Response.redirect()', handler: () => Response.redirect('http://shop.test/new', 301) },
  { name: 'a 302 of Response.redirect()', handler: () => Response.redirect('http://shop.test/new', 302), runs: 2 },
  { name: 'a 307 with a body', handler: ofStatus(307, { location: '/new' }), runs: 2 },
  { name: 'a 308', handler: ofStatus(308, { location: '/new' }) },
  ...[400, 401, 402, 403, 405, 406, 409, 418, 422, 429, 451, 499].map((status) => {
    return { name: `a ${status}`, handler: ofStatus(status), runs: 2 }
  }),
  ...[404, 410].map((status) => ({ name: `a ${status}`, handler: ofStatus(status) })),
  ...[500, 501, 502, 503, 504, 599].map((status) => {
    return { name: `a ${status}`, handler: ofStatus(status, { 'retry-after': '7' }), fails: true }
  }),
]

const fields: readonly Way[] = [
  { name: 'several Set-Cookie fields', handler: withFields(cookies), runs: 2 },
  { name: 'a Set-Cookie of a redirect', handler: withFields(cookies, { status: 302 }), runs: 2 },
  ...['private', 'no-store', 'no-cache', 'Private="x"', 'max-age=60, no-store'].map((value) => {
    return { name: `Cache-Control: ${value}`, handler: withFields({ 'cache-control': value }), runs: 2 }
  }),
  ...['public, max-age=60', 'max-age=0', 's-maxage=9', 'must-revalidate', 'immutable, nonsense="a,b"'].map((value) => {
    return { name: `Cache-Control: ${value}`, handler: withFields({ 'cache-control': value }) }
  }),
  { name: 'an Expires in the past', handler: withFields({ expires: 'Thu, 01 Jan 1970 00:00:00 GMT' }) },
  { name: 'Vary by a field', handler: withFields({ vary: 'Accept-Language, Accept' }) },
  { name: 'Vary: *', handler: withFields({ vary: '*' }), runs: 2 },
  { name: 'Vary: Cookie', handler: withFields({ vary: 'cookie' }), runs: 2 },
  { name: 'an entity-tag', handler: withFields({ etag: '"v1"' }) },
  { name: 'a Last-Modified', handler: withFields({ 'last-modified': 'Wed, 09 Jun 2021 10:18:14 GMT' }) },
  { name: 'a field with two values', handler: withFields([...Object.entries({ link: '</a>' }), ['link', '</b>']]) },
  { name: 'a field of latin1', handler: withFields({ 'x-latin1': 'G\u00fcte' }) },
  { name: 'an empty field', handler: withFields({ 'x-empty': '' }) },
  { name: 'a right Content-Length', handler: withFields({ 'content-length': '4' }) },
  { name: 'a coded body', handler: withFields({ 'content-encoding': 'x-grid' }) },
  { name: 'an event stream', handler: withFields({ 'content-type': 'text/event-stream' }), runs: 2 },
]

const errors: readonly Way[] = [
  { name: 'an error thrown at once', handler: throwing(new Error('boom')), fails: true },
  { name: 'an error thrown later', handler: () => Promise.reject(new Error('boom')), fails: true },
  { name: 'a text thrown', handler: throwing('boom'), fails: true },
  { name: 'undefined thrown', handler: throwing(undefined), fails: true },
]

const requests: readonly Way[] = [
  { name: 'a HEAD', handler: noBody, request: { method: 'HEAD' } },
  { name: 'a POST with a body', handler: echo, request: { method: 'POST', body: 'grid' }, runs: 2 },
  { name: 'a PUT of a stream', handler: echo, request: streamed(), runs: 2 },
  { name: 'a DELETE', handler: echo, request: { method: 'DELETE' }, runs: 2 },
  { name: 'OPTIONS', handler: echo, request: { method: 'OPTIONS' }, runs: 2 },
  { name: 'a request for events', handler: echo, request: { headers: { accept: 'text/event-stream' } }, runs: 2 },
  { name: 'a request with credentials', handler: echo, request: { headers: { authorization: 'Basic x' } }, runs: 2 },
  { name: 'a request with a cookie', handler: echo, request: { headers: { cookie: 'a=1' } } },
  { name: 'a Range that the handler does not know', handler: echo, request: { headers: { range: 'bytes=0-1' } } },
  { name: 'a If-Match that the handler does not know', handler: echo, request: { headers: { 'if-match': '"x"' } } },
  { name: 'a request of another version', handler: echo, request: { headers: { 'if-none-match': '"old"' } } },
  { name: 'a request that wants no cache', handler: echo, request: { headers: { 'cache-control': 'no-store' } } },
]

export const WAYS: readonly Way[] = [...bodies, ...streams, ...statuses, ...fields, ...errors, ...requests]

async function echo(request: Request): Promise<Response> {
  const { method, url } = request
  const body = method === 'GET' ? '' : await request.text()
  const { search } = new URL(url)
  return Response.json({ method, search, body, accept: request.headers.get('accept') }, { headers: { etag: '"v1"' } })
}

/** A host sends no body to a HEAD: so the handler alone has none. */
function noBody({ method }: Request): Response {
  return new Response(method === 'HEAD' ? null : 'page', { headers: { 'content-type': 'text/x-grid' } })
}

async function usedBody(): Promise<Response> {
  const response = new Response('used')
  await response.text()
  return response
}

function throwing(error: unknown): Handler {
  return () => {
    throw error
  }
}

function byte(value: number): Uint8Array {
  return Uint8Array.of(value)
}

function byteStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: 'bytes',
    start(controller) {
      controller.enqueue(Uint8Array.of(1, 2, 3))
      controller.close()
    },
  })
}

function streamed(): RequestInit {
  return { method: 'PUT', body: streamOf(['a', 'b']), duplex: 'half' } as RequestInit
}
