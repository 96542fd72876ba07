import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Store } from '@cattlegrid/core'
import { type RecordedResponse, type Stored, storedCodec, urlTagsOf } from '@cattlegrid/http'
import { startRedis } from '@cattlegrid/testkit'
import { cattlegrid, type Ran, rowsOf } from './support/cli.ts'
import { entryOf, LONG } from '../../../test/support/entries.ts'
import { connect, openRedis, type RedisUnderTest } from '../../../test/support/redis-under-test.ts'

const page = 'https://shop.example/products/7?size=2'

let redis: RedisUnderTest
let store: Store

beforeEach(async () => {
  redis = await openRedis()
  store = await redis.open()
})
afterEach(() => redis.stop())

const run = (args: readonly string[]): Promise<Ran> =>
  cattlegrid([...args, '--namespace', redis.namespace, '--timeout', '20s'])

function response(other: Partial<RecordedResponse> = {}): RecordedResponse {
  const fields = { 'content-type': 'text/html', link: ['</a>', '</b>'], date: 'Sat, 31 Jan 2026 13:03:09 GMT' }
  return { status: 200, fields, removed: ['x-powered-by'], body: Buffer.from('<h1>Gate</h1>'), initialAge: 3, ...other }
}

async function keep(key: string, stored: Stored, tags: readonly string[] = []): Promise<void> {
  await store.put(key, entryOf(stored, { tags, staleIfError: LONG }), storedCodec)
}

describe('a response', () => {
  test('is shown by its status, its fields and the beginning of its body', async () => {
    await keep('k', response())
    expect(rowsOf((await run(['inspect', 'k'])).out)).toMatchObject({
      state: 'fresh',
      status: '200',
      fields: 'content-type: text/html\nlink: </a>\nlink: </b>\ndate: Sat, 31 Jan 2026 13:03:09 GMT',
      body: '13 bytes: "<h1>Gate</h1>"',
    })
  })

  test('is a document with --json', async () => {
    await keep('k', response())
    const { status, fields, removed, initialAge } = response()
    expect(JSON.parse((await run(['inspect', '--json', 'k'])).out)).toMatchObject({
      entry: {
        form: 'http',
        value: {
          status,
          fields,
          removed,
          initialAge,
          usableFor: null,
          body: { size: 13, form: 'text', value: '<h1>Gate</h1>' },
        },
      },
    })
  })

  test('whose body is no text shows its size, and bytes with --json', async () => {
    const body = gzipSync('x'.repeat(1000))
    await keep('k', response({ body }))
    expect(rowsOf((await run(['inspect', 'k'])).out)['body']).toBe(`${body.length} bytes, not text`)
    expect(JSON.parse((await run(['inspect', '--json', 'k'])).out)).toMatchObject({
      entry: { value: { body: { size: body.length, form: 'base64', value: body.toString('base64') } } },
    })
  })

  test('without a body says so', async () => {
    await keep('k', response({ status: 204, body: Buffer.alloc(0) }))
    expect(rowsOf((await run(['inspect', 'k'])).out)).toMatchObject({ status: '204', body: 'none' })
  })

  test('never shows the fields that may hold credentials', async () => {
    const names = ['set-cookie', 'authorization', 'authentication-info', 'x-api-key', 'x-csrf-token', 'x-client-secret']
    const secrets = Object.fromEntries(names.map((name) => [name, 's3cret']))
    await keep('k', response({ fields: { ...secrets, date: 'now' } }))
    for (const option of [[], ['--json']]) {
      const { out } = await run(['inspect', 'k', ...option])
      for (const name of names) expect(out).toContain(name)
      expect(out).toContain('(not shown)')
      expect(out).not.toContain('s3cret')
    }
  })

  test('that cannot be read is shown as bytes, with a note', async () => {
    await store.put('k', entryOf(1), { id: storedCodec.id, encode: () => Buffer.from('no response'), decode: () => 1 })
    const shown = rowsOf((await run(['inspect', 'k'])).out)
    expect(shown['value']).toBe('11 bytes: "no response"')
    expect(shown['note']).toContain('no HTTP response that this version')
  })
})

test('a record of variants is shown by the fields that select', async () => {
  await keep('k', { vary: ['accept-encoding', 'accept-language'], id: 'an id' })
  expect(rowsOf((await run(['inspect', 'k'])).out)['varies by']).toBe('accept-encoding, accept-language (2 fields)')
  expect(JSON.parse((await run(['inspect', '--json', 'k'])).out)).toMatchObject({
    entry: { form: 'vary', value: { vary: ['accept-encoding', 'accept-language'] } },
  })
})

describe('a page', () => {
  /** One entry by each of the page's tags, one of them behind tags that fill more than the first bytes of its record, and others. */
  async function fill(): Promise<void> {
    const [withHost, withoutHost] = urlTagsOf(page)
    const many = Array.from({ length: 20 }, (_, index) => `${index}${'t'.repeat(200)}`)
    await keep('by host', response(), ['shop', withHost])
    await keep('without', response({ status: 404 }), [...many, withoutHost])
    await keep('other', response(), urlTagsOf('https://shop.example/products/8'))
    await keep('untagged', response())
    await redis.client.hSet(`${redis.namespace}:{hash}`, 'field', 'value')
    await store.invalidateTags(['none'], 'delete')
  }

  test('is inspected by the tags of its URL, however it is spelt', async () => {
    await fill()
    const { code, out, err } = await run(['inspect', '--page', 'HTTPS://SHOP.example:443/products/%37/?size=2#top'])
    expect([code, err]).toEqual([0, ''])
    const [head = '', ...entries] = out.split('\n\n')
    expect(rowsOf(head)).toEqual({
      page: 'https://shop.example/products/%37/?size=2',
      found: '2 entries with the tag of this URL, of 5 entries in the namespace',
    })
    const shown = entries
      .map(rowsOf)
      .toSorted((one, other) => (one['status'] ?? '').localeCompare(other['status'] ?? ''))
    expect(shown).toMatchObject([
      { key: 'by host', state: 'fresh', status: '200' },
      { key: 'without', status: '404' },
    ])
  })

  test('may be the URL of --url, whose server is then that of REDIS_URL', async () => {
    await fill()
    const { out } = await run(['inspect', '--url', page, '--json'])
    expect(JSON.parse(out)).toMatchObject({ page, searched: 5, entries: [{}, {}] })
  })

  test('is one document with --json', async () => {
    await fill()
    const { out } = await run(['inspect', '--page', page, '--json'])
    const { entries, ...rest } = JSON.parse(out) as { entries: { key: string }[] }
    expect(rest).toEqual({ page, searched: 5, complete: true, notes: [] })
    expect(entries.map(({ key }) => key).toSorted()).toEqual(['by host', 'without'])
  })

  test('of which no entry carries the tag is not an error, and the note says which responses do', async () => {
    await keep('untagged', response())
    const { code, out } = await run(['inspect', '--page', page])
    expect(code).toBe(0)
    expect(rowsOf(out)['found']).toBe('0 entries with the tag of this URL, of 1 entry in the namespace')
    expect(rowsOf(out)['note']).toContain('invalidateOnUnsafe')
  })

  test('in an empty namespace is reported as such', async () => {
    const { out } = await run(['inspect', '--page', page])
    expect(rowsOf(out)['note']).toContain(`Nothing stands under the namespace '${redis.namespace}'`)
  })

  test('whose namespace is not searched in time ends with 1, after what was found', async () => {
    const server = await startRedis({ own: true })
    const client = await connect(server.url)
    await client.sendCommand(['EVAL', "for i = 1, 1000000 do redis.call('SET', 'n:{' .. i .. '}', '') end", '0'])
    const args = ['inspect', '--page', page, '--json', '--namespace', 'n', '--timeout', '5s']
    const { code, out, err } = await cattlegrid(args, server.url)
    await client.close()
    await server.stop()
    expect([code, JSON.parse(out)]).toMatchObject([1, { complete: false, entries: [] }])
    expect(err).toContain('searched so far')
    expect(err).toMatch(/The time was over after [\d,]+ entries; the others were not searched\.\nAllow more time/)
  })

  test.each([
    ['delete', 'gone', 'deleted'],
    ['expire', 'stale', 'expired'],
  ] as const)('is invalidated by %s through the tags of its URL', async (command, state, done) => {
    await fill()
    const said = `${done}  the tag of ${page}\n`
    expect(await run([command, '--page', page])).toEqual({ code: 0, out: said, err: '' })
    for (const key of ['by host', 'without'])
      expect(JSON.parse((await run(['inspect', '--json', key])).out)).toMatchObject({ state })
    expect(JSON.parse((await run(['inspect', '--json', 'other'])).out)).toMatchObject({ state: 'fresh' })
    const { out } = await run([command, '--page', page, '--json'])
    expect(JSON.parse(out)).toEqual({ page, tags: urlTagsOf(page), tagSeq: expect.any(Number) })
  })
})
