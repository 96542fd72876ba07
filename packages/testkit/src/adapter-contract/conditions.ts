import { strict as assert } from 'node:assert'
import type { Received } from './client.ts'
import { type ContractAnswer, counted, json, stream, text } from './contract-route.ts'
import type { Contract, Need } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const cache = { ttl: '10s', cacheStatus: true } as const
const LATE = 'Thu, 01 Jan 2026 00:00:00 GMT'
const EARLY = 'Wed, 01 Jan 2025 00:00:00 GMT'

function isNotModified({ status, body, headers }: Received): void {
  assert.equal(status, 304)
  assert.equal(body.length, 0)
  for (const name of ['content-type', 'content-length', 'content-language', 'transfer-encoding'])
    assert.deepEqual([name, headers[name]], [name, undefined])
}

const tagged = (fields: Readonly<Record<string, string>>) => (): ContractAnswer =>
  text('one', { 'content-language': 'en', 'x-kind': 'k', ...fields })

const MET: readonly (readonly [string, () => ContractAnswer, Readonly<Record<string, string>>])[] = [
  ['an entity-tag', tagged({ etag: '"a"' }), { 'if-none-match': '"b", W/"a"' }],
  ['any answer', tagged({ etag: '"a"' }), { 'if-none-match': '*' }],
  ['a date', tagged({ 'last-modified': EARLY }), { 'if-modified-since': LATE }],
  ['an entity-tag, on JSON', () => json('one', { etag: '"a"', 'x-kind': 'k' }), { 'if-none-match': '"a"' }],
]

const UNMET: readonly (readonly [string, () => ContractAnswer, Readonly<Record<string, string>>, ...Need[]])[] = [
  ['has another entity-tag', tagged({ etag: '"a"' }), { 'if-none-match': '"b"' }],
  ['was changed since', tagged({ 'last-modified': LATE, etag: '"a"' }), { 'if-modified-since': EARLY }],
  ['is no 200', () => text('one', { etag: '"a"' }, 404), { 'if-none-match': '"a"' }],
  ['is streamed', () => stream(['one'], { etag: '"a"' }), { 'if-none-match': '"a"' }, 'node'],
]

/**
 * RFC 9110 section 13: a leader's handler does not see its client's conditions, so the cache evaluates them
 * on the handler's response.
 */
export function describeConditions({ factory, describe, test }: Contract): void {
  describe('a condition of a request that runs its own handler', () => {
    for (const [what, answer, headers] of MET) {
      test(`is met by ${what}: its client gets 304, other clients the whole response`, async () => {
        const origin = counted(answer)
        await onStage(factory, [{ path: '/met', cache, handle: origin.handle }], async (stage) => {
          const leader = await stage.ask('/met', { headers })
          isNotModified(leader)
          assert.equal(leader.headers['x-kind'], 'k')
          assert.match(String(leader.headers['cache-status']), /^cattlegrid; fwd=uri-miss; stored; ttl=10$/)
          await stage.seen('commit', 1)
          const hit = await stage.ask('/met')
          assert.deepEqual([hit.status, origin.runs], [200, 1])
          assert.match(hit.text, /one/)
          assert.ok(hit.headers['content-length'] !== undefined)
          assert.equal(leader.headers['etag'], 'etag' in headers ? hit.headers['etag'] : leader.headers['etag'])
        })
      })
    }

    for (const [why, answer, headers, ...needs] of UNMET) {
      test(
        `is not met by a response that ${why}: its client gets the whole response`,
        async () => {
          await onStage(factory, [{ path: '/unmet', cache, handle: counted(answer).handle }], async (stage) => {
            const leader = await stage.ask('/unmet', { headers })
            assert.notEqual(leader.status, 304)
            assert.equal(leader.text, 'one')
          })
        },
        ...needs,
      )
    }

    test(
      'is met by the entity-tag that the cache made for a response without one',
      async () => {
        const origin = counted(() => ({ ...text('one'), send: 'bytes', body: Buffer.from('one') }) as ContractAnswer)
        const route = { path: '/made', cache: { ...cache, ttl: '1s' }, handle: origin.handle } as const
        await onStage(factory, [route], async (stage) => {
          await stage.ask('/made')
          await stage.seen('commit', 1)
          const { etag } = (await stage.ask('/made')).headers
          await stage.runtime.advance(1001)
          const leader = await stage.ask('/made', { headers: { 'if-none-match': String(etag) } })
          isNotModified(leader)
          assert.deepEqual([leader.headers['etag'], origin.runs], [etag, 2])
        })
      },
      'time',
    )

    test('of a leader does not affect its followers, whose own conditions count', async () => {
      const gate = createGate()
      const origin = counted(async () => {
        await gate.opened
        return text('one', { etag: '"a"' })
      })
      await onStage(factory, [{ path: '/herd', cache, handle: origin.handle }], async (stage) => {
        const leader = stage.ask('/herd', { headers: { 'if-none-match': '"a"' } })
        await stage.seen('load', 1)
        const whole = stage.ask('/herd')
        const met = stage.ask('/herd', { headers: { 'if-none-match': '"a"' } })
        await stage.seen('join', 2)
        gate.open()
        assert.deepEqual([(await leader).status, (await whole).status, (await met).status], [304, 200, 304])
        assert.equal((await whole).text, 'one')
      })
    })

    test('is met by an unshareable response, too, and the 304 keeps its cookie', async () => {
      const origin = counted(() => text('one', { etag: '"a"', 'set-cookie': 'a=1' }))
      await onStage(factory, [{ path: '/own', cache, handle: origin.handle }], async (stage) => {
        const leader = await stage.ask('/own', { headers: { 'if-none-match': '"a"' } })
        isNotModified(leader)
        assert.deepEqual(leader.cookies, ['a=1'])
        assert.equal((await stage.ask('/own')).status, 200)
        assert.equal(origin.runs, 2)
      })
    })
  })
}
