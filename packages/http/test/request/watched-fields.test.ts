import type { IncomingHttpHeaders } from 'node:http'
import { inspect } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { readUnreported, watchFields } from '../../src/request/watched-fields.ts'

const NAMES = ['cookie', 'authorization'] as const

/** Watches the fields, and notes the name and the value of each read. */
function watching(headers: IncomingHttpHeaders) {
  const reads: (readonly [name: string, value: unknown])[] = []
  const onRead = (name: string, value: unknown): unknown => {
    reads.push([name, value])
    return value
  }
  return { reads, stop: watchFields(headers, NAMES, { onRead }) }
}

describe('watched request fields', () => {
  test('report the reads of a present and of an absent field, until the watch stops', () => {
    const headers: IncomingHttpHeaders = { host: 'shop', cookie: 'sid=1' }
    const { reads, stop } = watching(headers)
    expect([headers.host, headers.cookie, headers.authorization]).toEqual(['shop', 'sid=1', undefined])
    stop()
    expect([headers.cookie, headers.authorization]).toEqual(['sid=1', undefined])
    expect(reads).toEqual([
      ['cookie', 'sid=1'],
      ['authorization', undefined],
    ])
  })

  test('that are absent stay so', () => {
    const headers = { host: 'shop' }
    watching(headers)
    expect(['cookie' in headers, 'host' in headers, Object.hasOwn(headers, 'cookie')]).toEqual([false, true, false])
  })

  test.each([
    ['Headers', (headers: Record<string, string>) => [...new Headers(headers)]],
    ['Object.entries', Object.entries],
    ['Reflect.ownKeys', Reflect.ownKeys],
    ['JSON', JSON.stringify],
    ['a structured clone', (headers: object) => inspect(structuredClone(headers))],
    ['a spread', (headers: object) => ({ ...headers })],
  ])('make the same copy by %s', (_way, copy: (headers: Record<string, string>) => unknown) => {
    const headers = { host: 'shop', cookie: 'sid=1', 'x-a': '1' }
    const expected = copy({ ...headers })
    watching(headers)
    expect(copy(headers)).toEqual(expected)
  })

  test.each([
    ['over HTTP/1.1', (fields: object) => ({ ...fields })],
    ['over HTTP/2', (fields: object) => Object.assign(Object.create(null) as object, fields)],
  ])('look in a text as they are, whose making reads them, %s', (_version, make) => {
    const fields = { host: 'shop', cookie: 'sid=1', 'user-agent': 'a browser with a long name '.repeat(4) }
    const headers = make(fields)
    const { reads } = watching(headers)
    expect(inspect(headers)).toBe(inspect(make(fields)))
    expect(inspect({ req: { headers } })).toBe(inspect({ req: { headers: make(fields) } }))
    expect(new Set(reads.map(([name]) => name))).toEqual(new Set(['cookie']))
  })

  test('are a plain object, as libraries that merge options define it', () => {
    const headers = { host: 'shop' }
    watching(headers)
    const prototype = Object.getPrototypeOf(headers) as object
    // As axios and is-plain-obj do, and lodash.
    expect(Object.getPrototypeOf(prototype)).toBe(null)
    expect(Object.hasOwn(prototype, 'constructor') && headers.constructor).toBe(Object)
  })

  test('keep an assignment, also after the watch', () => {
    const headers: IncomingHttpHeaders = { cookie: 'sid=1' }
    const { stop } = watching(headers)
    headers.cookie = 'sid=2'
    headers.authorization = 'Basic YTpi'
    expect(headers).toEqual({ cookie: 'sid=2', authorization: 'Basic YTpi' })
    stop()
    expect(headers).toEqual({ cookie: 'sid=2', authorization: 'Basic YTpi' })
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype)
  })

  test.each([
    ['the outer layer stops first', [0, 1]],
    ['the inner layer stops first', [1, 0]],
  ] as const)('report to two layers, each until it stops: %s', (_case, order) => {
    const headers: IncomingHttpHeaders = { cookie: 'sid=1' }
    const layers = [watching(headers), watching(headers)]
    void headers.cookie
    void headers.authorization
    for (const index of order) layers[index]?.stop()
    expect(headers).toEqual({ cookie: 'sid=1' })
    expect([headers.cookie, headers.authorization]).toEqual(['sid=1', undefined])
    expect(layers.map(({ reads }) => reads.length)).toEqual([2, 2])
  })

  test('of a request over HTTP/2, whose fields have no prototype, are reported', () => {
    const headers = Object.assign(Object.create(null) as IncomingHttpHeaders, { cookie: 'sid=1' })
    const { reads } = watching(headers)
    expect([headers.cookie, headers.authorization]).toEqual(['sid=1', undefined])
    expect(reads).toHaveLength(2)
  })

  test('are read unreported by code that says so', () => {
    const headers: IncomingHttpHeaders = { cookie: 'sid=1' }
    const { reads } = watching(headers)
    expect([readUnreported(headers, 'cookie'), readUnreported(headers, 'authorization')]).toEqual(['sid=1', undefined])
    expect(reads).toEqual([])
  })

  test.each([Object.freeze, Object.seal, Object.preventExtensions])(
    'survive that the application makes their object immutable (%p)',
    (fix: (headers: object) => unknown) => {
      const headers: IncomingHttpHeaders = { cookie: 'sid=1' }
      const { stop } = watching(headers)
      fix(headers)
      stop()
      expect([headers.cookie, headers.authorization]).toEqual(['sid=1', undefined])
    },
  )

  test('of a frozen object are not watched', () => {
    const headers = Object.freeze({ cookie: 'sid=1' })
    const { reads } = watching(headers)
    expect([headers.cookie, reads]).toEqual(['sid=1', []])
  })
})
