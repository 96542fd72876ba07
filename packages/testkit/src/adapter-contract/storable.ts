import { strict as assert } from 'node:assert'
import {
  bytes,
  type ContractAnswer,
  type ContractHeaders,
  counted,
  json,
  nothing,
  stream,
  text,
} from './contract-route.ts'
import type { Contract, Need } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const cache = { ttl: '10s', maxBodyBytes: '64kb' } as const
const LARGE = 'x'.repeat(64 * 1024 + 1)

const says =
  (headers: ContractHeaders): (() => ContractAnswer) =>
  () =>
    text('own', headers)

/** Responses for one client alone: never stored, never sent to another client. */
const UNSHAREABLE: readonly (readonly [string, () => ContractAnswer, ...Need[]])[] = [
  ['Set-Cookie', says({ 'set-cookie': 'a=1' })],
  ['two cookies', says({ 'set-cookie': ['a=1', 'b=2'] })],
  ['a cookie on a stream', () => stream(['own'], { 'content-type': 'text/plain', 'set-cookie': 'a=1' })],
  ['a cookie on JSON', () => json('own', { 'set-cookie': 'a=1' })],
  ['a cookie on a Buffer', () => bytes(Buffer.from('own'), { 'set-cookie': 'a=1' })],
  ['a cookie past the framework', rawCookie, 'node'],
  ['Cache-Control: private', says({ 'cache-control': 'private' })],
  ['Cache-Control: PRIVATE', says({ 'cache-control': 'PRIVATE, max-age=60' })],
  ['Cache-Control: private of some fields', says({ 'cache-control': 'max-age=60, private="x-a, x-b"' })],
  ['Cache-Control: no-store', says({ 'cache-control': 'no-store' })],
  ['Cache-Control: No-Store', says({ 'cache-control': 'max-age=60,No-Store' })],
  ['no-store on a second line', says({ 'cache-control': ['max-age=60', 'no-store'] })],
  ['Cache-Control: no-cache', says({ 'cache-control': 'no-cache' })],
  ['Cache-Control: NO-CACHE of a field', says({ 'cache-control': 'NO-CACHE="set-cookie"' })],
  ['Vary: *', says({ vary: '*' })],
  ['Vary with a star in a list', says({ vary: 'accept, *' })],
  ['Vary: Cookie', says({ vary: 'accept, Cookie' })],
  ['Vary: User-Agent', says({ vary: 'user-agent' })],
  ['a Vary of seven fields', says({ vary: 'a, b, c, d, e, f, g' })],
  ['a private that is badly separated', says({ 'cache-control': 'private; x' })],
  ['401', () => text('own', {}, 401)],
  ['403', () => text('own', {}, 403)],
  ['407', () => text('own', {}, 407)],
  ['429', () => text('own', {}, 429)],
  ['a body over the limit', () => text(LARGE)],
  ['a streamed body over the limit', () => stream([LARGE.slice(1), 'xx'], { 'content-type': 'text/plain' })],
]

function rawCookie(): ContractAnswer {
  return {
    send: 'raw',
    write: (response) => {
      response.writeHead(200, ['Set-Cookie', 'a=1', 'Content-Type', 'text/plain'])
      response.end('own')
    },
  }
}

/** Responses that are not stored, but that waiting clients may get. */
const UNSTORED: readonly (readonly [string, () => ContractAnswer])[] = [
  ['400', () => text('own', {}, 400)],
  ['418', () => text('own', {}, 418)],
  ['302 without freshness of its own', () => nothing(302, { location: '/elsewhere' })],
  ['206', () => text('part', { 'content-range': 'bytes 0-3/100' }, 206)],
]

const STORED: readonly (readonly [number, string])[] = [
  [200, 'one'],
  [203, 'one'],
  [204, ''],
  [300, 'one'],
  [301, 'one'],
  [308, 'one'],
  [404, 'one'],
  [410, 'one'],
]

/** The rules that decide which responses are stored, and which waiting clients get. */
export function describeStorable({ factory, describe, test }: Contract): void {
  describe('which responses are stored', () => {
    for (const [what, answer, ...needs] of UNSHAREABLE) {
      test(
        `a response with ${what} is for its own client only: not stored, and not shared with followers`,
        async () => {
          const gate = createGate()
          const origin = counted(async () => {
            await gate.opened
            return answer()
          })
          await onStage(factory, [{ path: '/unshareable', cache, handle: origin.handle }], async (stage) => {
            const crowd = stage.crowd(10, '/unshareable')
            await stage.seen('join', 9)
            gate.open()
            const received = await crowd
            assert.equal(origin.runs, 10)
            for (const { text: body } of received) assert.ok(body === received[0]?.text && body !== '')
            await stage.ask('/unshareable')
            assert.equal(origin.runs, 11)
          })
        },
        ...needs,
      )
    }

    for (const [what, answer] of UNSTORED) {
      test(`a response with ${what} is not stored`, async () => {
        const origin = counted(answer)
        await onStage(factory, [{ path: '/unstored', cache, handle: origin.handle }], async (stage) => {
          const first = await stage.ask('/unstored')
          const second = await stage.ask('/unstored')
          assert.equal(origin.runs, 2)
          assert.equal(second.status, first.status)
          assert.equal(second.text, first.text)
        })
      })
    }

    for (const [status, body] of STORED) {
      test(`a response with ${status} is stored, and repeated unchanged`, async () => {
        const origin = counted(() =>
          body === '' ? nothing(status, { 'x-a': 'b' }) : text(body, { location: '/elsewhere' }, status),
        )
        const route = { path: '/stored', cache: { ttl: '10s', negativeTtl: '5s' }, handle: origin.handle } as const
        await onStage(factory, [route], async (stage) => {
          const first = await stage.ask('/stored')
          const second = await stage.ask('/stored')
          assert.equal(origin.runs, 1)
          for (const received of [first, second]) {
            assert.equal(received.status, status)
            assert.equal(received.text, body)
            assert.equal(received.headers['location'], body === '' ? undefined : '/elsewhere')
          }
        })
      })
    }

    test('50 concurrent requests of two users for a response that sets a cookie never get the other user’s', async () => {
      const gate = createGate()
      const origin = counted(async (_, { headers }) => {
        await gate.opened
        const user = String(headers['x-user'])
        return json({ user }, { 'set-cookie': `user=${user}` })
      })
      await onStage(factory, [{ path: '/session', cache, handle: origin.handle }], async (stage) => {
        const userOf = (client: number): string => (client % 2 === 0 ? 'ada' : 'bob')
        const crowd = stage.crowd(50, '/session', (client) => ({ headers: { 'x-user': userOf(client) } }))
        await stage.seen('join', 49)
        gate.open()
        for (const [client, received] of (await crowd).entries()) {
          assert.equal(received.status, 200)
          assert.equal(received.text, `{"user":"${userOf(client)}"}`)
          assert.deepEqual(received.cookies, [`user=${userOf(client)}`])
        }
        const { text: body, cookies } = await stage.ask('/session', { headers: { 'x-user': 'eve' } })
        assert.equal(body, '{"user":"eve"}')
        assert.deepEqual(cookies, ['user=eve'])
      })
    })

    test('a prohibition by a layer outside counts as much as the handler’s own', async () => {
      const origin = counted((run) => text(`run ${run}`))
      const before = () => ({ headers: { 'cache-control': 'no-store' } })
      await onStage(factory, [{ path: '/outside', cache, before, handle: origin.handle }], async (stage) => {
        assert.equal((await stage.ask('/outside')).text, 'run 1')
        assert.equal((await stage.ask('/outside')).text, 'run 2')
      })
    })

    test(
      'a stored 404 expires after negativeTtl',
      async () => {
        const origin = counted(() => text('nothing here', {}, 404))
        const route = { path: '/missing', cache: { ttl: '1m', negativeTtl: '2s' }, handle: origin.handle } as const
        await onStage(factory, [route], async (stage) => {
          await stage.ask('/missing')
          await stage.runtime.advance(1000)
          await stage.ask('/missing')
          assert.equal(origin.runs, 1)
          await stage.runtime.advance(1001)
          assert.equal((await stage.ask('/missing')).status, 404)
          assert.equal(origin.runs, 2)
        })
      },
      'time',
    )
  })

  describe('app mode', () => {
    const kept: readonly (readonly [string, ContractHeaders])[] = [
      ['max-age', { 'cache-control': 'max-age=60' }],
      ['s-maxage', { 'cache-control': 'max-age=0, s-maxage=60' }],
      ['S-MaxAge in any case', { 'cache-control': 'S-MaxAge=60' }],
    ]
    for (const [what, headers] of kept) {
      test(
        `a response that declares ${what} is stored for that long`,
        async () => {
          const origin = counted((run) => text(`run ${run}`, headers))
          await onStage(factory, [{ path: '/app', handle: origin.handle }], async (stage) => {
            await stage.ask('/app')
            await stage.runtime.advance(59_000)
            assert.equal((await stage.ask('/app')).text, 'run 1')
            await stage.runtime.advance(1001)
            assert.equal((await stage.ask('/app')).text, 'run 2')
          })
        },
        'time',
      )
    }

    const unkept: readonly (readonly [string, ContractHeaders])[] = [
      ['nothing about it', {}],
      ['public alone', { 'cache-control': 'public' }],
      ['max-age=0', { 'cache-control': 'max-age=0' }],
      ['s-maxage=0', { 'cache-control': 'max-age=60, s-maxage=0' }],
      ['a max-age that is no number', { 'cache-control': 'max-age=soon' }],
      ['max-age and no-store', { 'cache-control': 'max-age=60, no-store' }],
      ['Last-Modified alone', { 'last-modified': 'Thu, 01 Jan 1970 00:00:00 GMT' }],
    ]
    for (const [what, headers] of unkept) {
      test(`a response that declares ${what} is not stored`, async () => {
        const origin = counted((run) => text(`run ${run}`, headers))
        await onStage(factory, [{ path: '/app', handle: origin.handle }], async (stage) => {
          assert.equal((await stage.ask('/app')).text, 'run 1')
          assert.equal((await stage.ask('/app')).text, 'run 2')
        })
      })
    }
  })
}
