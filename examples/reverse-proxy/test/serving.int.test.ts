import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { RawAnswer } from './raw-client.ts'
import { openScene, type Scene } from './scene.ts'
import type { ScriptedAnswer } from './scripted-origin.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

const FRESH = { 'Cache-Control': 'max-age=60' }
const stored = (fields: Record<string, string> = {}, body = '0123456789'): ScriptedAnswer => ({
  fields: { ...FRESH, ...fields },
  body,
})

/** Returns the response to a request with these fields for a stored response. */
async function hitWith(answer: ScriptedAnswer, fields: Record<string, string>, method = 'GET'): Promise<RawAnswer> {
  const path = scene.path(answer)
  await scene.ask(path)
  const hit = await scene.ask(path, { method, fields })
  expect(scene.arrived(path)).toHaveLength(1)
  return hit
}

describe('a stored answer is for requests', () => {
  test('of the same URL only: host, path and query', async () => {
    const path = scene.path(stored())
    await scene.ask(`${path}?a=1`)
    for (const target of [path, `${path}?a=2`, `${path}?a=1&b`, `${path}?`])
      expect((await scene.ask(target)).hit).toBe(false)
    expect((await scene.ask(`${path}?a=1`, { fields: { Host: 'other.example' } })).hit).toBe(false)
    expect((await scene.ask(`${path}?a=1`)).hit).toBe(true)
  })

  test('with the same parameters in the same order', async () => {
    const path = scene.path(stored())
    await scene.ask(`${path}?a=1&b=2`)
    expect((await scene.ask(`${path}?b=2&a=1`)).hit).toBe(false)
    expect((await scene.ask(`${path}?a=1&b=2`)).hit).toBe(true)
  })

  test('by GET, and by HEAD, which gets its fields without the body', async () => {
    const hit = await hitWith(stored({ ETag: '"e"' }), {}, 'HEAD')
    expect(hit).toMatchObject({ status: 200, hit: true, body: '' })
    expect([hit.field('content-length'), hit.field('etag')]).toEqual(['10', '"e"'])
  })

  test('by no unsafe method: each of them reaches the origin', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'LOCK']) {
      const path = scene.path(stored(), { status: 500, body: 'made' })
      await scene.ask(path)
      expect([method, (await scene.ask(path, { method })).body]).toEqual([method, 'made'])
    }
  })

  test('whatever their own Cache-Control and Pragma say: a client opens no way to the origin', async () => {
    for (const fields of [
      { 'Cache-Control': 'no-cache' },
      { 'Cache-Control': 'max-age=0' },
      { 'Cache-Control': 'no-store' },
      { Pragma: 'no-cache' },
    ])
      expect((await hitWith(stored(), fields as Record<string, string>)).hit).toBe(true)
  })
})

describe('an answer that varies', () => {
  test('is reused for a request with the same selecting fields alone', async () => {
    const path = scene.path(stored({ Vary: 'X-Kind' }))
    await scene.ask(path, { fields: { 'X-Kind': 'a' } })
    expect((await scene.ask(path, { fields: { 'X-Kind': 'a' } })).hit).toBe(true)
    for (const fields of [{ 'X-Kind': 'b' }, { 'X-Kind': '' }, {}] as Record<string, string>[])
      expect([fields, (await scene.ask(path, { fields })).hit]).toEqual([fields, false])
    expect(scene.arrived(path)).toHaveLength(4)
  })

  test('by several fields is reused only where all of them match', async () => {
    const path = scene.path(stored({ Vary: 'x-kind, X-Size' }))
    await scene.ask(path, { fields: { 'X-Kind': 'a', 'X-Size': '1' } })
    expect((await scene.ask(path, { fields: { 'X-Kind': 'a', 'X-Size': '2' } })).hit).toBe(false)
    expect((await scene.ask(path, { fields: { 'X-Size': '1', 'X-Kind': 'a' } })).hit).toBe(true)
  })

  test('matches a field by its bytes, on however many lines they stand', async () => {
    const path = scene.path(stored({ Vary: 'X-Kind' }))
    await scene.ask(path, { fields: { 'X-Kind': 'a, b' } })
    expect((await scene.ask(path, { fields: { 'X-Kind': 'a ,b' } })).hit).toBe(false)
    expect((await scene.ask(path, { fields: { 'X-Kind': ['a', 'b'] } })).hit).toBe(true)
    expect((await scene.ask(path, { fields: { 'X-Kind': 'b, a' } })).hit).toBe(false)
  })

  test.each(['*', 'X-Kind, *', '*, X-Kind'])('by Vary: %s is nobody else’s', async (vary) => {
    const path = scene.path(stored({ Vary: vary }))
    await scene.ask(path)
    expect((await scene.ask(path)).hit).toBe(false)
  })

  test('by * on a line of its own is nobody else’s', async () => {
    const path = scene.path({ fields: { ...FRESH, Vary: ['X-Kind', '*'] } })
    await scene.ask(path)
    expect((await scene.ask(path)).hit).toBe(false)
  })

  test('keeps several variants beside each other', async () => {
    const path = scene.path(stored({ Vary: 'X-Kind' }, 'a'), stored({ Vary: 'X-Kind' }, 'b'))
    for (const kind of ['a', 'b']) await scene.ask(path, { fields: { 'X-Kind': kind } })
    for (const kind of ['a', 'b']) expect((await scene.ask(path, { fields: { 'X-Kind': kind } })).body).toBe(kind)
    expect(scene.arrived(path)).toHaveLength(2)
  })
})

describe('a condition of the client', () => {
  test.each(['"e"', 'W/"e"', '"x", "e"', '*'])(
    'If-None-Match: %s is answered with 304 from the stored answer',
    async (condition) => {
      const hit = await hitWith(stored({ ETag: '"e"', 'Content-Type': 'text/x' }), { 'If-None-Match': condition })
      expect(hit).toMatchObject({ status: 304, body: '' })
      expect([hit.field('etag'), hit.field('cache-control')]).toEqual(['"e"', 'max-age=60'])
      expect(hit.field('age')).toMatch(/^\d$/)
      expect([hit.field('content-type'), hit.field('content-length')]).toEqual([undefined, undefined])
    },
  )

  test('may name a tag with a comma in it', async () => {
    expect((await hitWith(stored({ ETag: 'W/"a, b"' }), { 'If-None-Match': '"x","a, b"' })).status).toBe(304)
    expect((await hitWith(stored({ ETag: '"a"' }), { 'If-None-Match': '"a, b"' })).status).toBe(200)
  })

  test('that names another version gets the whole answer', async () => {
    expect(await hitWith(stored({ ETag: '"e"' }), { 'If-None-Match': '"x"' })).toMatchObject({
      status: 200,
      body: '0123456789',
    })
  })

  test('If-None-Match makes If-Modified-Since count for nothing', async () => {
    const answer = stored({ ETag: '"e"', 'Last-Modified': 'Tue, 01 Jan 2019 00:00:00 GMT' })
    const fields = { 'If-None-Match': '"x"', 'If-Modified-Since': 'Tue, 01 Jan 2019 00:00:00 GMT' }
    expect((await hitWith(answer, fields)).status).toBe(200)
  })

  test('If-Modified-Since is judged by Last-Modified, without one by Date', async () => {
    const modified = stored({ 'Last-Modified': 'Tue, 01 Jan 2019 00:00:00 GMT' })
    expect((await hitWith(modified, { 'If-Modified-Since': 'Tue, 01 Jan 2019 00:00:00 GMT' })).status).toBe(304)
    expect((await hitWith(modified, { 'If-Modified-Since': 'Mon, 31 Dec 2018 00:00:00 GMT' })).status).toBe(200)
    // The response's Date is a moment of the test: an hour before it and an hour after it are so on any machine.
    const anHour = 3_600_000
    const since = (time: number): Record<string, string> => ({ 'If-Modified-Since': new Date(time).toUTCString() })
    expect((await hitWith(stored(), since(Date.now() + anHour))).status).toBe(304)
    expect((await hitWith(stored(), since(Date.now() - anHour))).status).toBe(200)
  })

  test('that only an origin may judge is not judged', async () => {
    for (const fields of [{ 'If-Match': '"x"' }, { 'If-Unmodified-Since': 'Tue, 01 Jan 2019 00:00:00 GMT' }] as Record<
      string,
      string
    >[])
      expect((await hitWith(stored({ ETag: '"e"' }), fields)).status).toBe(200)
  })

  test('of an unsafe request goes on to the origin', async () => {
    const path = scene.path({ status: 412 })
    await scene.ask(path, { method: 'PUT', fields: { 'If-None-Match': '*', 'If-Match': '"x"' } })
    expect(scene.arrived(path)[0]?.headers).toMatchObject({ 'if-none-match': '*', 'if-match': '"x"' })
  })

  test('on an answer other than 200 is not judged', async () => {
    expect((await hitWith({ ...stored({ ETag: '"e"' }), status: 404 }, { 'If-None-Match': '"e"' })).status).toBe(404)
  })
})

describe('a range', () => {
  test.each([
    ['bytes=0-3', '0123', 'bytes 0-3/10'],
    ['bytes=8-', '89', 'bytes 8-9/10'],
    ['bytes=-2', '89', 'bytes 8-9/10'],
    ['bytes=5-99', '56789', 'bytes 5-9/10'],
  ])('%s is cut from the whole, and told as a part', async (range, body, contentRange) => {
    const hit = await hitWith(stored({ ETag: '"e"' }), { Range: range })
    expect(hit).toMatchObject({ status: 206, body, hit: true })
    expect(hit.field('content-range')).toBe(contentRange)
  })

  test('that is not asked of the origin when the answer is not stored yet', async () => {
    const path = scene.path(stored())
    await scene.ask(path, { fields: { Range: 'bytes=0-1' } })
    expect(scene.arrived(path)[0]?.headers).not.toHaveProperty('range')
    expect((await scene.ask(path)).body).toBe('0123456789')
  })

  test('outside the body is 416', async () => {
    const hit = await hitWith(stored(), { Range: 'bytes=10-' })
    expect([hit.status, hit.field('content-range')]).toEqual([416, 'bytes */10'])
  })

  test('of another version, or that cannot be read, is the whole', async () => {
    const answer = stored({ ETag: '"e"' })
    expect((await hitWith(answer, { Range: 'bytes=0-1', 'If-Range': '"x"' })).status).toBe(200)
    expect((await hitWith(answer, { Range: 'bytes=0-1', 'If-Range': 'W/"e"' })).status).toBe(200)
    expect((await hitWith(answer, { Range: 'bytes=0-1', 'If-Range': '"e"' })).status).toBe(206)
    for (const range of ['lines=0-1', 'bytes=1-0', 'bytes=0-1,4-5', 'bytes=x'])
      expect([range, (await hitWith(answer, { Range: range })).status]).toEqual([range, 200])
  })
})
