import { strict as assert } from 'node:assert'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const as = (user: string) => ({ headers: { authorization: `Bearer ${user}` } })

/** Requests with Authorization or a cookie. */
export function describeCredentials({ factory, describe, test }: Contract): void {
  const personal = (fields: Record<string, string> = {}) =>
    counted((run, { headers }) => text(`${run} for ${headers.authorization ?? 'anybody'}`, fields))

  describe('requests with credentials', () => {
    test('have their own entries if the route asks for that', async () => {
      const origin = personal()
      const route = { path: '/own', cache: { ttl: '10s', authorization: 'key' }, handle: origin.handle } as const
      await onStage(factory, [route], async (stage) => {
        for (let round = 0; round < 2; round += 1) {
          assert.equal((await stage.ask('/own', as('ada'))).text, '1 for Bearer ada')
          assert.equal((await stage.ask('/own', as('bob'))).text, '2 for Bearer bob')
          assert.equal((await stage.ask('/own')).text, '3 for anybody')
        }
      })
    })

    test('share an entry with other requests only with unsafeShareAuthorized', async () => {
      const origin = personal()
      const route = { path: '/all', cache: { ttl: '10s', unsafeShareAuthorized: true }, handle: origin.handle } as const
      await onStage(factory, [route], async (stage) => {
        assert.equal((await stage.ask('/all', as('ada'))).text, '1 for Bearer ada')
        assert.equal((await stage.ask('/all')).text, '1 for Bearer ada')
      })
    })

    for (const said of ['public, max-age=60', 'max-age=60, must-revalidate', 's-maxage=60'] as const) {
      test(`in app mode share a response with ${said}, which no request without credentials gets`, async () => {
        const origin = personal({ 'cache-control': said })
        await onStage(factory, [{ path: '/said', handle: origin.handle }], async (stage) => {
          assert.equal((await stage.ask('/said', as('ada'))).text, '1 for Bearer ada')
          assert.equal((await stage.ask('/said', as('bob'))).text, '1 for Bearer ada')
          assert.equal((await stage.ask('/said')).text, '2 for anybody')
        })
      })
    }

    test('bypass the cache in app mode, too, if the route says so', async () => {
      const origin = personal({ 'cache-control': 'public, max-age=60' })
      const route = { path: '/said', cache: { ttl: 'origin', authorization: 'bypass' }, handle: origin.handle } as const
      await onStage(factory, [route], async (stage) => {
        for (const run of [1, 2]) assert.equal((await stage.ask('/said', as('ada'))).text, `${run} for Bearer ada`)
      })
    })

    test('in app mode share no other response, not even with followers, and leave the entries of other clients unchanged', async () => {
      const gate = createGate()
      const origin = counted(async (run, { headers }) => {
        if (run > 1) await gate.opened
        return text(headers.authorization ?? 'anybody', { 'cache-control': 'max-age=60' })
      })
      await onStage(factory, [{ path: '/said', handle: origin.handle }], async (stage) => {
        assert.equal((await stage.ask('/said')).text, 'anybody')
        const crowd = stage.crowd(10, '/said', (client) => as(`user ${client}`))
        await stage.seen('join', 9)
        gate.open()
        for (const [client, { text: body }] of (await crowd).entries()) assert.equal(body, `Bearer user ${client}`)
        assert.equal((await stage.ask('/said', as('eve'))).text, 'Bearer eve')
        assert.equal((await stage.ask('/said')).text, 'anybody')
      })
    })

    test('a cookie is removed from the stored response only with unsafeStripSetCookie, and its own client still gets it', async () => {
      const origin = counted((run) => text(`run ${run}`, { 'set-cookie': 'id=1' }))
      const route = {
        path: '/strip',
        cache: { ttl: '10s', unsafeStripSetCookie: true },
        handle: origin.handle,
      } as const
      await onStage(factory, [route], async (stage) => {
        assert.deepEqual((await stage.ask('/strip')).cookies, ['id=1'])
        const hit = await stage.ask('/strip')
        assert.deepEqual([hit.text, hit.cookies], ['run 1', []])
      })
    })
  })
}
