import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openScene, type Scene } from './scene.ts'
import type { ScriptedAnswer, Step } from './scripted-origin.ts'

let scene: Scene
beforeAll(async () => {
  scene = await openScene()
})
afterAll(() => scene.close())

const first = (fields: Record<string, string> = {}): ScriptedAnswer => ({
  fields: { 'Cache-Control': 'max-age=10', ETag: '"1"', ...fields },
  body: 'first',
})
const same = (fields: Record<string, string> = {}): ScriptedAnswer => ({
  status: 304,
  fields: { ETag: '"1"', ...fields },
})

/** A path whose stored response has expired; the origin responds with `steps` from here on. */
async function expired(answer: ScriptedAnswer, ...steps: readonly Step[]): Promise<string> {
  const path = scene.path(answer, ...steps)
  await scene.ask(path)
  await scene.wait(20)
  return path
}

describe('an expired answer with a validator', () => {
  test('is asked about with the validators that the origin gave, and no others', async () => {
    const modified = 'Tue, 01 Jan 2019 00:00:00 GMT'
    const asked = async (fields: Record<string, string>): Promise<unknown> => {
      const path = await expired({ fields: { 'Cache-Control': 'max-age=10', ...fields } }, same())
      await scene.ask(path, { fields: { 'If-None-Match': '"of the client"' } })
      const headers = scene.arrived(path)[1]?.headers
      return [headers?.['if-none-match'], headers?.['if-modified-since']]
    }
    expect(await asked({ ETag: '"1"' })).toEqual(['"1"', undefined])
    expect(await asked({ ETag: 'W/"1"', 'Last-Modified': modified })).toEqual(['W/"1"', modified])
    expect(await asked({ 'Last-Modified': modified })).toEqual([undefined, modified])
    expect(await asked({})).toEqual([undefined, undefined])
  })

  test('is served again when the origin says 304, and is fresh again', async () => {
    const path = await expired(first(), same())
    expect(await scene.ask(path)).toMatchObject({ status: 200, body: 'first' })
    await scene.wait(5)
    expect(await scene.ask(path)).toMatchObject({ status: 200, body: 'first', hit: true })
    expect(scene.arrived(path)).toHaveLength(2)
  })

  test('takes on every field of the 304, and keeps the others', async () => {
    const path = await expired(
      first({ 'X-Old': 'old', 'X-Kept': 'kept', 'Content-Type': 'text/old' }),
      same({ 'Cache-Control': 'max-age=100', 'X-Old': 'new', 'X-More': 'more', 'Content-Type': 'text/new' }),
    )
    for (const answer of [await scene.ask(path), await scene.ask(path)])
      expect(
        ['x-old', 'x-kept', 'x-more', 'content-type', 'cache-control', 'etag', 'content-length'].map((name) =>
          answer.field(name),
        ),
      ).toEqual(['new', 'kept', 'more', 'text/new', 'max-age=100', '"1"', '5'])
    await scene.wait(50)
    expect((await scene.ask(path)).hit).toBe(true)
  })

  test('does not take on fields of the connection, or a length of the 304', async () => {
    const path = await expired(
      first(),
      same({ Connection: 'X-Hop', 'X-Hop': '1', 'Content-Length': '99', 'Proxy-Authenticate': 'Basic' }),
    )
    await scene.ask(path)
    const hit = await scene.ask(path)
    expect(hit).toMatchObject({ hit: true, body: 'first', cutOff: false })
    expect([hit.field('x-hop'), hit.field('proxy-authenticate'), hit.field('content-length')]).toEqual([
      undefined,
      undefined,
      '5',
    ])
  })

  test('is as old as its validation: its Age starts again, its Date is that of the 304', async () => {
    const date = new Date(Date.now() - 2000).toUTCString()
    const path = await expired(first({ Age: '5' }), same({ Date: date }))
    const answer = await scene.ask(path)
    expect(Number(answer.field('age') ?? '0')).toBeLessThan(5)
    expect(answer.field('date')).toBe(date)
  })

  test('gives way to a full answer, which is the one that is sent', async () => {
    const path = await expired(first(), { ...first({ ETag: '"2"' }), body: 'second' })
    expect(await scene.ask(path)).toMatchObject({ status: 200, body: 'second' })
    expect(await scene.ask(path)).toMatchObject({ body: 'second', hit: true })
  })

  test('is not freshened by a 304 about another version: the origin is asked for the whole', async () => {
    const path = await expired(first(), same({ ETag: '"2"' }), { ...first({ ETag: '"2"' }), body: 'second' })
    expect(await scene.ask(path)).toMatchObject({ status: 200, body: 'second' })
    expect(scene.arrived(path)[2]?.headers).not.toHaveProperty('if-none-match')
  })

  test('answers the client’s own condition once it is validated: 200 for another version, 304 for the same', async () => {
    for (const [condition, status] of [
      ['"x"', 200],
      ['"1"', 304],
    ] as const) {
      const path = await expired(first(), same())
      expect([condition, (await scene.ask(path, { fields: { 'If-None-Match': condition } })).status]).toEqual([
        condition,
        status,
      ])
    }
  })

  test('is revalidated for HEAD as for GET', async () => {
    const path = await expired(first(), same())
    expect(await scene.ask(path, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' })
    expect(scene.arrived(path)[1]?.headers['if-none-match']).toBe('"1"')
    expect(await scene.ask(path)).toMatchObject({ hit: true, body: 'first' })
  })

  test('of one variant is revalidated with the fields that chose it', async () => {
    const path = await expired(first({ Vary: 'X-Kind' }), same({ Vary: 'X-Kind' }))
    expect((await scene.ask(path)).body).toBe('first')
    expect(await scene.ask(path)).toMatchObject({ hit: true, body: 'first' })
  })
})

describe('an answer that must be validated each time', () => {
  test.each([
    'no-cache',
    'no-cache, max-age=60',
    'max-age=60, no-cache="x-a"',
    'max-age=0',
    'max-age=0, must-revalidate',
  ])('with %s is never reused without the origin’s word', async (cacheControl) => {
    const path = scene.path(first({ 'Cache-Control': cacheControl }), same({ 'Cache-Control': cacheControl }))
    for (let count = 1; count <= 3; count += 1) {
      expect(await scene.ask(path)).toMatchObject({ status: 200, body: 'first', hit: false })
      expect(scene.arrived(path)).toHaveLength(count)
      await scene.wait(1)
    }
    expect(
      scene
        .arrived(path)
        .slice(1)
        .map(({ headers }) => headers['if-none-match']),
    ).toEqual(['"1"', '"1"'])
  })
})

describe('an answer that may not be used stale', () => {
  test.each([
    'must-revalidate, max-age=10',
    'proxy-revalidate, max-age=10',
    's-maxage=10',
    'must-revalidate, max-age=10, stale-while-revalidate=60, stale-if-error=60',
  ])('because of %s is revalidated, and not served in the place of an error', async (cacheControl) => {
    const fields = { 'Cache-Control': cacheControl }
    const path = await expired(first(fields), { status: 503, body: 'down' }, same(fields))
    expect(await scene.ask(path)).toMatchObject({ status: 503 })
    await scene.wait(10)
    expect(await scene.ask(path)).toMatchObject({ status: 200, body: 'first' })
    expect(scene.arrived(path)[2]?.headers['if-none-match']).toBe('"1"')
  })

  test('is answered with 504 where the origin cannot be reached', async () => {
    const path = await expired(first({ 'Cache-Control': 'must-revalidate, max-age=10' }), (req) => req.socket.destroy())
    expect(await scene.ask(path)).toMatchObject({ status: 504 })
  })
})

describe('an answer that may be used stale', () => {
  test('is not, while the origin answers', async () => {
    const path = await expired(first(), { ...first(), body: 'second' })
    expect(await scene.ask(path)).toMatchObject({ body: 'second' })
  })

  test.each([500, 502, 503, 504])('is served in the place of %d, with its age', async (status) => {
    const path = await expired(first(), { status, body: 'down' })
    const answer = await scene.ask(path)
    expect(answer).toMatchObject({ status: 200, body: 'first' })
    expect(answer.field('age')).toMatch(/^2\d$/)
  })

  test('is not served in the place of another error', async () => {
    const path = await expired(first(), { status: 404, body: 'none' })
    expect(await scene.ask(path)).toMatchObject({ status: 404, body: 'none' })
  })

  test('is served where the origin cannot be reached', async () => {
    const path = await expired(first(), (req) => req.socket.destroy())
    expect(await scene.ask(path)).toMatchObject({ status: 200, body: 'first' })
  })

  test('is not served in the place of an error once its window is over', async () => {
    const path = await expired(first(), { status: 503, body: 'down' })
    await scene.wait(51)
    expect(await scene.ask(path)).toMatchObject({ status: 503 })
    const own = await expired(first({ 'Cache-Control': 'max-age=10, stale-if-error=5' }), { status: 503, body: 'down' })
    expect(await scene.ask(own)).toMatchObject({ status: 503 })
  })

  test('is served at once, and refreshed behind, inside the window that its own answer opened', async () => {
    const window = { 'Cache-Control': 'max-age=10, stale-while-revalidate=30' }
    const path = await expired(first(window), { ...first(window), body: 'second' })
    const stale = await scene.ask(path)
    expect(stale).toMatchObject({ status: 200, body: 'first' })
    expect(stale.field('age')).toMatch(/^2\d$/)
    while ((await scene.ask(path)).body !== 'second') await scene.wait(0)
    expect(scene.arrived(path)).toHaveLength(2)
    await scene.wait(41)
    expect(await scene.ask(path)).toMatchObject({ hit: false })
    expect(scene.arrived(path)).toHaveLength(3)
  })
})
