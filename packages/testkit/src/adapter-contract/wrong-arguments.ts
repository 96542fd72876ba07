import { strict as assert } from 'node:assert'
import type { ServerResponse } from 'node:http'
import { type ContractRoute, counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

type Method = 'writeHead' | 'write' | 'end'

/** Calls a method with arguments that its types forbid. */
function call(response: ServerResponse, method: Method, ...args: readonly unknown[]): void {
  Reflect.apply(response[method] as (...args: readonly unknown[]) => unknown, response, args)
}

/** Calls that Node refuses before a byte is out, with the codes of its errors. */
const WRONG: readonly (readonly [string, string, (response: ServerResponse) => unknown])[] = [
  ['end(5)', 'ERR_INVALID_ARG_TYPE', (response) => call(response, 'end', 5)],
  ['end({})', 'ERR_INVALID_ARG_TYPE', (response) => call(response, 'end', {})],
  ['write(5)', 'ERR_INVALID_ARG_TYPE', (response) => call(response, 'write', 5)],
  [
    'a line break in statusMessage',
    'ERR_INVALID_CHAR',
    (response) => void Object.assign(response, { statusMessage: 'a\nb' }).end('x'),
  ],
  [
    'a line break in a field of writeHead',
    'ERR_INVALID_CHAR',
    (response) => call(response, 'writeHead', 200, { 'x-bad': 'a\r\nb' }),
  ],
  [
    'a field without a value in writeHead',
    'ERR_HTTP_INVALID_HEADER_VALUE',
    (response) => call(response, 'writeHead', 200, { 'x-bad': undefined }),
  ],
  [
    'a field without a value in a list of writeHead',
    'ERR_HTTP_INVALID_HEADER_VALUE',
    (response) => call(response, 'writeHead', 200, ['x-bad', undefined]),
  ],
  [
    'a list of writeHead that ends with a name',
    'ERR_INVALID_ARG_VALUE',
    (response) => call(response, 'writeHead', 200, ['x-a', 'a', 'x-bad']),
  ],
]

const ROUTES: readonly (readonly [string, Pick<ContractRoute, 'method' | 'cache'>])[] = [
  ['a POST that invalidates', { method: 'POST' }],
  ['a GET that leads', { cache: { ttl: '10s', cacheStatus: true } }],
  ['a GET that only observes', { cache: { ttl: '10s', cacheStatus: true, mode: 'observe' } }],
  ['a GET that the cache passes', { cache: { ttl: '10s', cacheStatus: true, skip: () => true } }],
]

/** What Node throws to a handler is thrown to it here, too, and the framework answers. */
export function describeWrongArguments({ factory, describe, test }: Contract): void {
  describe('a wrong argument', () => {
    for (const [what, code, misuse] of WRONG)
      for (const [which, route] of ROUTES)
        test(`(${what}) throws in the handler of ${which}, and the framework sends 500`, async () => {
          const caught: unknown[] = []
          const write = (response: ServerResponse): void => {
            try {
              misuse(response)
              response.destroy()
            } catch (error) {
              caught.push((error as NodeJS.ErrnoException).code)
              response.statusMessage = ''
              throw error
            }
          }
          const wrong = { ...route, path: '/wrong', handle: async () => ({ send: 'raw', write }) as const }
          const { handle } = counted((run) => text(`run ${run}`))
          await onStage(factory, [wrong, { path: '/well', handle }], async (stage) => {
            const { status } = await stage.ask('/wrong', { method: route.method })
            assert.deepEqual([status, caught], [500, [code]])
            assert.equal((await stage.ask('/well')).text, 'run 1')
          })
        })

    test('throws, too, where the client would get a 304', async () => {
      const write = (response: ServerResponse): void => {
        response.setHeader('etag', '"a"')
        call(response, 'end', 5)
        response.destroy()
      }
      const handle = async () => ({ send: 'raw', write }) as const
      await onStage(factory, [{ path: '/a', cache: { ttl: '10s' }, handle }], async (stage) => {
        assert.equal((await stage.ask('/a', { headers: { 'if-none-match': '"a"' } })).status, 500)
      })
    })

    test('keeps a POST from invalidating anything', async () => {
      const { handle } = counted((run) => text(`run ${run}`, { 'cache-control': 'max-age=60' }))
      const write = (response: ServerResponse): void => {
        response.statusCode = 201
        call(response, 'end', 5)
        response.destroy()
      }
      const wrong = { method: 'POST', path: '/a', handle: async () => ({ send: 'raw', write }) as const } as const
      await onStage(factory, [{ path: '/a', handle }, wrong], async (stage) => {
        await stage.ask('/a')
        assert.equal((await stage.ask('/a', { method: 'POST' })).status, 500)
        assert.equal((await stage.ask('/a')).text, 'run 1')
      })
    })
  })
}
