import * as fc from 'fast-check'
import { ANN, BOB } from '../composition/clients.ts'
import type { Step } from '../composition/script.ts'

// The grammar of the fuzz: an app is layers outside the cache, layers inside it, and a handler. All of it is plain data, so that a failing
// stack can be printed and played again. A handler is a function of its request: the bare app and the cached one must agree.

/** What a layer does, and the values that it does it with. `late`: when the head is written, as `on-headers` and `onSend` do. */
const LAYERS = {
  'set a field': ['one', 'two'],
  'set a field late': ['one', 'two'],
  vary: ['Accept-Language', 'Origin', 'Accept-Encoding', 'Cookie', '*', 'accept-language, X-Theme'],
  'allow the origin': ['as cors does'],
  compress: ['as compression does'],
  restrict: ['no-store', 'private', 'No-Cache', 'private="set-cookie"'],
  'set a cookie': ['always'],
  'set a cookie late': ['always'],
  // Only outside. A response that tells clients apart by such a layer inside the cache would be stored, as it must be.
  'name the client': ['in a field'],
  'number the request': ['in a field'],
  'begin a session': ['where there is none'],
  'begin a session late': ['where there is none'],
  refuse: ['bob', 'requests without credentials'],
  redirect: ['requests with b'],
  'pass to writeHead': ['a field', 'a cookie'],
  // Only inside.
  tag: ['"strong"', 'W/"weak"'],
  fail: ['requests with a=2'],
} as const

export type Does = keyof typeof LAYERS
export interface Layer {
  readonly does: Does
  readonly with: string
}

const layer = (...names: readonly Does[]): fc.Arbitrary<Layer> =>
  fc.oneof(...names.map((does) => fc.record({ does: fc.constant(does), with: fc.constantFrom(...LAYERS[does]) })))
const ANYWHERE = ['set a field', 'set a field late', 'vary', 'allow the origin', 'compress', 'restrict'] as const
const COOKIES = ['set a cookie', 'set a cookie late'] as const
const SESSIONS = ['begin a session', 'begin a session late'] as const
const OF_CLIENTS = ['name the client', 'number the request', 'refuse', 'redirect', 'pass to writeHead'] as const

/** The first value in most stacks. */
const usually = <const T>(usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(usual, ...others) })

const handler = fc.record({
  /** What the text depends on. */
  asks: usually('nothing', 'a', 'language', 'private', 'user', 'cookie', 'authorization'),
  style: fc.constantFrom(
    ...(['send', 'json', 'end', 'length', 'writes', 'encoded', 'stream', 'redirect', 'throw', 'abort'] as const),
    ...(['head', 'head with a reason', 'head as a list'] as const),
  ),
  status: usually<number>(200, 203, 204, 301, 302, 307, 400, 401, 403, 404, 410, 429, 500, 503),
  cacheControl: usually<string | undefined>(
    undefined,
    'no-store',
    'PRIVATE',
    'public, max-age=60',
    's-maxage=60',
    'max-age=0',
    'must-revalidate, max-age=60',
  ),
  later: fc.boolean(),
})

/** A request; `authorization` is each client's own. */
const step: fc.Arbitrary<Step> = fc
  .record({
    who: fc.constantFrom(ANN, BOB),
    method: usually<'GET' | 'HEAD' | 'POST' | 'PUT'>('GET', 'HEAD', 'POST', 'PUT'),
    query: usually('', '?a=1', '?a=2&b=1', '?b=1', '?b=1&a=2', '?'),
    headers: usually<Readonly<Record<string, string>>>(
      {},
      { 'if-none-match': 'own' },
      { 'if-none-match': '*' },
      { range: 'bytes=0-3' },
      { 'cache-control': 'no-cache' },
      { authorization: '' },
      { accept: 'text/event-stream' },
      { 'x-http-method-override': 'DELETE' },
      { 'content-length': '6' },
    ),
  })
  .map(({ query, headers, ...rest }) => ({
    ...rest,
    path: `/page${query}`,
    headers: 'authorization' in headers ? { authorization: `Bearer ${rest.who}` } : headers,
    ...('content-length' in headers ? { body: 'a body' } : {}),
  }))

export const stacks = fc.record({
  framework: fc.constantFrom('Express 5', 'Express 4', 'Fastify 5'),
  mode: fc.constantFrom('route', 'app'),
  outside: fc.array(layer(...ANYWHERE, ...COOKIES, ...SESSIONS, ...OF_CLIENTS), { maxLength: 3 }),
  inside: fc.array(layer(...ANYWHERE, ...COOKIES, 'tag', 'fail'), { maxLength: 2 }),
  handler,
  /** Whether only the parameter `a` is in the key. */
  onlyA: fc.boolean(),
  refresh: fc.constantFrom('behind', 'inline'),
  /** Fastify: whether the cache is registered before the layers outside it. */
  cacheFirst: fc.boolean(),
  /** Whether an error handler of the app responds to errors. */
  handlesErrors: fc.boolean(),
  /** Requests one after another, or at once, after so many seconds. */
  phases: fc.array(
    fc.record({
      after: usually(0, 61, 125),
      atOnce: fc.boolean(),
      steps: fc.array(step, { minLength: 1, maxLength: 4 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
})

type ValueOf<A> = A extends fc.Arbitrary<infer Value> ? Value : never
export type Stack = ValueOf<typeof stacks>
