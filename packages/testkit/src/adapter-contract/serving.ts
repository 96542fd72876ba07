import { strict as assert } from 'node:assert'
import { counted, stream, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { createGate, onStage } from './stage.ts'

const cache = { ttl: '10s' } as const

/** The cache answers HEAD, conditions and ranges from the entry; the leader's handler sees a plain GET. */
export function describeServing({ factory, describe, test }: Contract): void {
  describe('how an entry is served', () => {
    test('HEAD gets the header fields of GET’s entry, and no body', async () => {
      const origin = counted(() => text('four', { 'x-a': 'b' }))
      await onStage(factory, [{ path: '/head', cache, handle: origin.handle }], async (stage) => {
        await stage.ask('/head')
        const head = await stage.ask('/head', { method: 'HEAD' })
        assert.equal(head.status, 200)
        assert.equal(head.text, '')
        assert.equal(head.headers['content-length'], '4')
        assert.equal(head.headers['x-a'], 'b')
        assert.equal(origin.runs, 1)
      })
    })

    test('HEAD without an entry stores the whole response to GET', async () => {
      const origin = counted(() => text('four'))
      await onStage(factory, [{ path: '/head', cache, handle: origin.handle }], async (stage) => {
        const head = await stage.ask('/head', { method: 'HEAD' })
        assert.equal(head.status, 200)
        assert.equal(head.text, '')
        assert.equal(head.headers['content-length'], '4')
        assert.equal((await stage.ask('/head')).text, 'four')
        assert.equal(origin.runs, 1)
      })
    })

    test('20 HEAD and 20 GET requests at once cause one run of the handler', async () => {
      const gate = createGate()
      const origin = counted(async () => {
        await gate.opened
        return text('four')
      })
      await onStage(factory, [{ path: '/head', cache, handle: origin.handle }], async (stage) => {
        const crowd = stage.crowd(40, '/head', (client) => ({ method: client % 2 === 0 ? 'HEAD' : 'GET' }))
        await stage.seen('join', 39)
        gate.open()
        for (const [client, { status, text: body, headers }] of (await crowd).entries()) {
          assert.deepEqual([status, body, headers['content-length']], [200, client % 2 === 0 ? '' : 'four', '4'])
        }
        assert.equal(origin.runs, 1)
      })
    })

    test('a HEAD whose response is not stored gets no body, and delays no GET', async () => {
      const origin = counted((run) => text(`run ${run}`, { 'set-cookie': `run=${run}` }))
      await onStage(factory, [{ path: '/head', cache, handle: origin.handle }], async (stage) => {
        const head = await stage.ask('/head', { method: 'HEAD' })
        assert.equal(head.status, 200)
        assert.equal(head.text, '')
        const { runs } = origin
        const get = await stage.ask('/head')
        assert.equal(get.text, `run ${runs + 1}`)
        assert.deepEqual(get.cookies, [`run=${runs + 1}`])
      })
    })

    test('an entry without a validator gets a weak ETag, and a client that has it gets 304', async () => {
      const origin = counted(() =>
        stream(['some ', 'body'], { 'content-type': 'text/plain', 'cache-control': 'max-age=5' }),
      )
      await onStage(factory, [{ path: '/etag', cache, handle: origin.handle }], async (stage) => {
        await stage.ask('/etag')
        await stage.seen('commit', 1)
        const hit = await stage.ask('/etag')
        const etag = String(hit.headers['etag'])
        assert.match(etag, /^W\/".+"$/)
        for (const condition of [etag, `"a", ${etag}`, etag.slice(2), '*']) {
          const same = await stage.ask('/etag', { headers: { 'if-none-match': condition } })
          assert.equal(same.status, 304, condition)
          assert.equal(same.text, '')
          assert.equal(same.headers['etag'], etag)
          assert.equal(same.headers['cache-control'], 'max-age=5')
          assert.equal(same.headers['age'], '0')
          assert.equal(same.headers['content-type'], undefined)
        }
        const other = await stage.ask('/etag', { headers: { 'if-none-match': '"other"' } })
        assert.equal(other.status, 200)
        assert.equal(other.text, 'some body')
        assert.equal(origin.runs, 1)
      })
    })

    test('the handler’s own ETag is kept, and compared', async () => {
      const origin = counted(() => text('one', { etag: '"v1"' }))
      await onStage(factory, [{ path: '/etag', cache, handle: origin.handle }], async (stage) => {
        await stage.ask('/etag')
        assert.equal((await stage.ask('/etag')).headers['etag'], '"v1"')
        assert.equal((await stage.ask('/etag', { headers: { 'if-none-match': 'W/"v1"' } })).status, 304)
        assert.equal(origin.runs, 1)
      })
    })

    test('If-Modified-Since is compared with Last-Modified', async () => {
      const origin = counted(() => text('one', { 'last-modified': 'Sat, 01 Jan 2000 00:00:00 GMT' }))
      await onStage(factory, [{ path: '/since', cache, handle: origin.handle }], async (stage) => {
        await stage.ask('/since')
        const since = (date: string) => stage.ask('/since', { headers: { 'if-modified-since': date } })
        assert.equal((await since('Sat, 01 Jan 2000 00:00:00 GMT')).status, 304)
        assert.equal((await since('Fri, 31 Dec 1999 00:00:00 GMT')).status, 200)
        assert.equal(origin.runs, 1)
      })
    })

    test('a condition or a range of the leader does not affect its followers', async () => {
      const gate = createGate()
      const origin = counted(async () => {
        await gate.opened
        return text('the whole body', { etag: '"v1"' })
      })
      await onStage(factory, [{ path: '/leader', cache, handle: origin.handle }], async (stage) => {
        const leader = stage.ask('/leader', {
          headers: { 'if-none-match': '"v1"', range: 'bytes=0-2', 'if-match': '"other"' },
        })
        await stage.seen('load', 1)
        const crowd = stage.crowd(10, '/leader')
        await stage.seen('join', 10)
        gate.open()
        for (const received of await crowd) {
          assert.equal(received.status, 200)
          assert.equal(received.text, 'the whole body')
        }
        const { status } = await leader
        assert.ok(status === 304 || status === 200, String(status))
        assert.equal((await stage.ask('/leader')).text, 'the whole body')
      })
    })

    test('a condition of a follower counts for that follower only', async () => {
      const gate = createGate()
      const origin = counted(async () => {
        await gate.opened
        return text('the whole body', { etag: '"v1"' })
      })
      await onStage(factory, [{ path: '/follower', cache, handle: origin.handle }], async (stage) => {
        const leader = stage.ask('/follower')
        await stage.seen('load', 1)
        const follower = stage.ask('/follower', { headers: { 'if-none-match': '"v1"' } })
        await stage.seen('join', 1)
        gate.open()
        assert.equal((await leader).status, 200)
        assert.equal((await follower).status, 304)
      })
    })

    test('a Range is ignored: the leader and all others get the whole response', async () => {
      const origin = counted(() => text('0123456789', { 'accept-ranges': 'bytes' }))
      await onStage(factory, [{ path: '/range', cache, handle: origin.handle }], async (stage) => {
        for (let turn = 0; turn < 2; turn += 1) {
          const received = await stage.ask('/range', { headers: { range: 'bytes=2-3' } })
          assert.equal(received.status, 200)
          assert.equal(received.text, '0123456789')
        }
        assert.equal(origin.runs, 1)
      })
    })
  })
}
