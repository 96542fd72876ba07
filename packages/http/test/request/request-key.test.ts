import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { anyText } from '../../../../test/support/properties.ts'
import { withQuery } from '../../src/request/query.ts'
import { canonicalUrls, cookiesOf, type KeyParts, requestKey, urlTag } from '../../src/request/request-key.ts'

const BASE: KeyParts = { scheme: 'http', host: 'shop.example', target: '/a', place: '0', decodesPath: true }
const key = (target: string, parts: Partial<KeyParts> = {}): string | undefined =>
  requestKey({ ...BASE, ...parts, target })

describe('requests of one key', () => {
  test.each([
    ['/a?', '/a'],
    ['/%61', '/a'],
    ['/%2f', '/%2F'],
    ['/%7Euser', '/~user'],
  ])('%s and %s', (one, other) => {
    expect(key(one)).toBe(key(other))
  })

  test('the host in any case, with or without the default port', () => {
    expect(key('/a', { host: 'SHOP.example:80' })).toBe(key('/a'))
    expect(key('/a', { host: 'shop.example:443', scheme: 'https' })).toBe(key('/a', { scheme: 'https' }))
  })
})

describe('requests of different keys', () => {
  test.each([
    ['/a', '/A'],
    ['/a', '/a/'],
    ['/a', '//a'],
    ['/a%2Fb', '/a/b'],
    ['/a/../b', '/b'],
    ['/a?b=2&a=1', '/a?a=1&b=2'],
    ['/a?&&b=2&', '/a?b=2'],
    ['/a?q=%41', '/a?q=A'],
    ['/a?x=1&x=2', '/a?x=2&x=1'],
    ['/a?x[]=1&x=2', '/a?x=2&x[]=1'],
    ['/a?x%5B%5D=1&x=2', '/a?x=2&x%5B%5D=1'],
    ['/a?[x]=1&x=2', '/a?x=2&[x]=1'],
    ['/a?%5bx%5d=1&x=2', '/a?x=2&%5bx%5d=1'],
    ['/a?x.y=1&x=2', '/a?x=2&x.y=1'],
    ['/a?x+y=1&x%20y=2', '/a?x%20y=2&x+y=1'],
    ['/a?\u00E4=1&%C3%A4=2', '/a?%C3%A4=2&\u00E4=1'],
    ['/a?b=1&c', '/a?b=1%26c'],
    ['/a?b=1', '/a?b=1;c=2'],
    ['/a?b=+', '/a?b=%20'],
    ['/a?b', '/a?b='],
    ['/a??b', '/a?b'],
  ])('%s and %s', (one, other) => {
    expect(key(one)).not.toBe(key(other))
  })

  test('scheme, host, port and layer', () => {
    const keys = [
      key('/a'),
      key('/a', { scheme: 'https' }),
      key('/a', { host: 'evil.example' }),
      key('/a', { host: 'shop.example:8080' }),
      key('/a', { host: 'shop.example:443' }),
      key('/a', { place: '1' }),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('/%61 and /a, where the framework does not decode a path before it routes', () => {
    expect(key('/%61', { decodesPath: false })).not.toBe(key('/a', { decodesPath: false }))
  })
})

describe('any request', () => {
  test('has a short hashed key, or none where its parts are too long', () => {
    fc.assert(
      fc.property(anyText(), fc.string(), (target, host) => {
        expect(requestKey({ ...BASE, target: `/${target}`, host })).toMatch(/^http:[\w-]{43}$/)
      }),
    )
    expect(key(`/${'a'.repeat(8192)}`)).toBeUndefined()
    expect(key(`/${'a'.repeat(8000)}`)).toBeDefined()
  })

  test('cannot forge the boundary of two parts', () => {
    expect(key('/a', { scheme: 'http', host: 'shop' })).not.toBe(key('/a', { scheme: 'https', host: 'hop' }))
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z]{1,9}$/), fc.stringMatching(/^[a-z]{0,9}$/), (moved, rest) => {
        expect(key(`/${rest}`, { host: `h/${moved}` })).not.toBe(key(`/${moved}/${rest}`, { host: 'h' }))
      }),
    )
  })
})

describe('the query that the key holds and the handler sees', () => {
  const list = (...names: readonly string[]) => ({ kind: 'only', names: new Set(names) }) as const

  test.each([
    ['/a?b=2&a=1', '/a?a=1&b=2'],
    ['/a?&&b=2&', '/a?b=2'],
    ['/a?b=%41&utm=1', '/a?b=A'],
    ['/a?utm=1', '/a'],
    ['/a?b=1&a=1&b=0', '/a?a=1&b=1&b=0'],
    ['/a?a[]=1&a=2&b', '/a?a[]=1&a=2&b'],
    ['/a?[a]=1&a=2', '/a?[a]=1&a=2'],
    ['/a?%5ba%5d=1&a=2', '/a?%5Ba%5D=1&a=2'],
    ['/a?a.y=1&a=2', '/a?a.y=1&a=2'],
  ])('%s is %s, where a and b are listed', (url, shown) => {
    expect(withQuery(url, list('a', 'b'))).toBe(shown)
  })

  test('has no order where the parameters that count are listed, as long as no name repeats', () => {
    const names = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}$/), { minLength: 2, maxLength: 20 })
    fc.assert(
      fc.property(names, fc.nat(), (all, turn) => {
        const by = turn % all.length
        const turned = [...all.slice(by), ...all.slice(0, by)]
        const rule = list(...all)
        expect(withQuery(`/a?${turned.join('&')}`, rule)).toBe(withQuery(`/a?${all.join('&')}`, rule))
      }),
    )
  })

  test('keeps its order with more parameters than some parsers read', () => {
    const many = Array.from({ length: 101 }, (_, index) => `p${index}`)
    const url = `/a?${many.toReversed().join('&')}`
    expect(withQuery(url, list(...many))).toBe(url)
  })

  test.each(['/a?b=2&a=1', '/a?&&b=2&', '/a?b=%41'])('%s stays as it is where all parameters count', (url) => {
    expect(withQuery(url, { kind: 'all' })).toBe(url)
  })
})

describe('the tag of a URL', () => {
  const tag = (target: string): string => urlTag({ ...BASE, target })

  test.each([
    ['/products/7', '/PRODUCTS/7'],
    ['/products/7', '/products/7/'],
    ['/products/7', '/%70roducts/7?'],
    ['/a%zz', '/%61%zz'],
  ])('is one for %s and %s', (one, other) => {
    expect(tag(one)).toBe(tag(other))
  })

  test.each([
    ['/products/7', '/products/8'],
    ['/products/7', '/products/7?a'],
    ['/products/7', '//products/7'],
  ])('differs between %s and %s', (one, other) => {
    expect(tag(one)).not.toBe(tag(other))
  })
})

describe('the canonical URL', () => {
  const item = { pattern: '/Item/:id', base: '/Shop' }
  const express = { decodesPath: false, matched: item }

  test.each([
    ['/Shop/iTEM/%41%20b:c%2fd/?b&a', '/Shop/Item/A%20b:c%2Fd?b&a'],
    ['/item/A%20b%3ac%2Fd', '/Item/A%20b%3Ac%2Fd'],
    ['/item/a;x', '/Item/a;x'],
    ['/item/a%3bx', '/Item/a%3Bx'],
    ['/shop/item/%', '/Shop/Item/%'],
    ['/shop/other/a', '/shop/other/a'],
    ['/shop/item/a/b', '/shop/item/a/b'],
  ])('of %s is the pattern’s, with its parameters: %s', (url, shown) => {
    expect(canonicalUrls(express)(url)).toBe(shown)
  })

  test('has the key and the tag of the URL, and is canonical itself', () => {
    const url = fc.stringMatching(/^\/(?:[a-cA-C/:,?&=]|%4[1-3a-b]|%2[Cc])*$/)
    fc.assert(
      fc.property(url, fc.boolean(), (target, decodesPath) => {
        const matched = { pattern: '/:id', base: '' }
        for (const folds of [{ decodesPath }, { decodesPath, matched }]) {
          const shown = canonicalUrls(folds)(target)
          expect(key(shown, folds)).toBe(key(target, folds))
          expect(urlTag({ ...BASE, target: shown })).toBe(urlTag({ ...BASE, target }))
          expect(canonicalUrls(folds)(shown)).toBe(shown)
        }
      }),
    )
  })
})

describe('a cookie in the key', () => {
  test.each([
    ['theme=dark', 'theme=dark'],
    ['a=1;\t theme=dark ; theme=light', 'theme=dark'],
    ['theme=a=b', 'theme=a=b'],
    ['theme', undefined],
    ['Theme=dark', undefined],
    ['theme=', 'theme='],
  ])('%j has %j', (field, pair) => {
    expect(cookiesOf(field).get('theme')).toBe(pair)
  })

  test.each([
    'theme\u00A0=dark',
    '\u00A0theme=dark',
    'theme =dark',
    'theme=dark\u00A0',
    'theme\u00A0=light; theme=dark',
  ])('%j is not what parsers that differ about it may take it for', (field) => {
    expect(['theme=dark', 'theme=light', undefined]).not.toContain(cookiesOf(field).get('theme'))
  })
})

describe('the parts of a key', () => {
  test('cannot be forged by the delimiters in another part', () => {
    const keys = ['/a:b', '/a?b:', '/a?:b', '/a:?b', '/a:0:b', '/a?0:b'].map((target) =>
      key(target, { place: '', decodesPath: false }),
    )
    for (const place of ['4:http', ':http']) keys.push(key('/a', { place, decodesPath: false }))
    expect(new Set(keys).size).toBe(keys.length)
  })
})
