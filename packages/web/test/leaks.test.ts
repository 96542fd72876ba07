import { inspect } from 'node:util'
import { createCache } from '@cattlegrid/core'
import { PERSONAL_FIELDS, PERSONAL_PROPERTIES } from '@cattlegrid/http/binding'
import { describe, expect, it } from '@jest/globals'
import { cachedHandler, type WebRouteOptions } from '../src/index.ts'
import type { Handler } from './support/streams.ts'
import { expectNoLeak, fieldsOf, lateStream, type Name } from './support/users.ts'

const PAGE = 'http://shop.test/page'

const cachedBy = (handler: Handler, options: WebRouteOptions = {}): Handler =>
  cachedHandler(handler, { cache: createCache(), ttl: '30s', ...options })
const requestOf = (name: Name, path = PAGE): Request => new Request(path, { headers: fieldsOf(name) })
const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value ?? null))

type See = (request: Request) => unknown

const OF_FIELDS: readonly (readonly [string, See])[] = [
  ['get', ({ headers }) => headers.get('cookie')],
  ['get in capitals', ({ headers }) => headers.get('COOKIE')],
  ['a bound get', ({ headers }) => headers.get.bind(headers)('cookie')],
  ['get of the prototype', ({ headers }) => Headers.prototype.get.call(headers, 'cookie')],
  ['Reflect.apply', ({ headers }) => Reflect.apply(Reflect.get(headers, 'get') as () => string, headers, ['cookie'])],
  ['has', ({ headers }) => headers.has('cookie')],
  ['entries', ({ headers }) => [...headers.entries()]],
  ['values', ({ headers }) => [...headers.values()]],
  ['for … of', ({ headers }) => Object.fromEntries(headers)],
  ['the prototype’s iterator', ({ headers }) => [...Headers.prototype.entries.call(headers)]],
  ['forEach', ({ headers }) => listed(headers)],
  ['spread', ({ headers }) => [...headers]],
  ['a spread object', (request) => Object.assign({}, request.headers, request)],
  ['new Headers()', ({ headers }) => [...new Headers(headers)]],
  ['new Map()', ({ headers }) => [...new Map(headers)]],
  ['new Request()', (request) => [...new Request(request).headers]],
  ['new Request() with its headers', ({ url, headers }) => [...new Request(url, { headers }).headers]],
  ['new Request() of it as options', (request) => [...new Request(request.url, request).headers]],
  ['clone()', (request) => [...request.clone().headers]],
  ['a clone of the prototype', (request) => [...Request.prototype.clone.call(request).headers]],
  ['a clone of a clone', (request) => request.clone().clone().headers.get('cookie')],
  ['structuredClone', (request) => structuredClone(request)],
  ['structuredClone of the fields', ({ headers }) => structuredClone(headers)],
  ['a Response', ({ headers }) => [...new Response(null, { headers }).headers]],
  ['the getter of the prototype', (request) => [...(inherited('headers', request) as Headers)]],
  ['its own descriptor', (request) => [...(own('headers', request) as Headers)]],
  ['inspect of the fields', ({ headers }) => inspect(headers, { depth: 9, showHidden: true })],
  ['inspect of the request', (request) => inspect(request, { depth: 9, showHidden: true })],
  ['inspect of a proxy', ({ headers }) => inspect(headers, { depth: 9, showProxy: true })],
  ['symbols', (request) => symbolsOf(request)],
  ['symbols of the fields', ({ headers }) => symbolsOf(headers)],
  ['JSON', (request) => ({ request, headers: request.headers })],
]

describe('the fields of one client reach no other client', () => {
  it.each(OF_FIELDS)('by %s', async (_name, see) => {
    await expectNoLeak(
      cachedBy((request) => new Response(attempt(see, request))),
      requestOf,
    )
  })

  it.each(OF_FIELDS)('by %s behind a body that has begun', async (_name, see) => {
    const handler: Handler = (request) =>
      new Response(
        lateStream(
          () => 'page ',
          () => attempt(see, request),
        ),
      )
    await expectNoLeak(cachedBy(handler), requestOf)
  })

  it.each(PERSONAL_FIELDS)('where %s names it', async (field) => {
    const handler: Handler = ({ headers }) => new Response(headers.get(field))
    await expectNoLeak(cachedBy(handler), (name) => new Request(PAGE, { headers: { [field]: name } }))
  })

  it('by what fetch() sends on', async () => {
    const seen: string[] = []
    const handler: Handler = async (request) => {
      const sent = [new Request('http://origin.test/', request), new Request(request)]
      seen.push(text(sent.map(({ headers }) => [...headers])))
      return new Response(seen.at(-1))
    }
    await expectNoLeak(cachedBy(handler), requestOf)
  })

  it('by an object of fields that an earlier request has left', async () => {
    let first: Headers | undefined
    const handler: Handler = ({ headers }) => {
      first ??= headers
      return new Response(`page for ${headers.get('x-user-id') ?? ''}`)
    }
    await expectNoLeak(cachedBy(handler), requestOf)
    expect(first).toBeDefined()
  })

  it('by a cookie beside a field that the response varies by', async () => {
    const handler: Handler = ({ headers }) => {
      const tenant = headers.get('x-tenant-id')
      return new Response(`${tenant}: ${headers.get('cookie')}`, { headers: { vary: 'x-tenant-id' } })
    }
    await expectNoLeak(cachedBy(handler), requestOf)
  })

  it('by a list of all fields, one of which the response varies by', async () => {
    const handler: Handler = ({ headers }) => new Response(text([...headers]), { headers: { vary: 'x-user' } })
    const fields = (name: Name): HeadersOf => ({ 'x-user': 'shop', 'x-user-id': name })
    await expectNoLeak(cachedBy(handler), (name) => new Request(PAGE, { headers: fields(name) }))
  })
})

type HeadersOf = Record<string, string>

describe('what outer code knows of one client reaches no other client', () => {
  const known = (property: string, name: Name, headers: HeadersOf = {}): Request =>
    Object.assign(new Request(PAGE, { headers }), { [property]: { name } })

  it.each(PERSONAL_PROPERTIES)('by request.%s', async (property) => {
    const handler: Handler = (request) => new Response(text(Reflect.get(request, property)))
    await expectNoLeak(cachedBy(handler), (name) => known(property, name))
  })

  it.each([
    ['a clone', (request: Request) => Reflect.get(request.clone(), 'user') as unknown],
    ['a descriptor', (request: Request) => own('user', request)],
    ['all descriptors', (request: Request) => attempt(everyValue, request)],
    ['Object.entries', (request: Request) => Object.entries(request)],
    ['inspect', (request: Request) => inspect(request, { depth: 9, showHidden: true, getters: true })],
  ])('by request.user of %s', async (_name, see) => {
    const handler: Handler = (request) => new Response(text(see(request)))
    await expectNoLeak(cachedBy(handler), (name) => known('user', name))
  })

  it('by a symbol', async () => {
    const key = Symbol('user')
    const handler: Handler = (request) => new Response(text([symbolsOf(request), Reflect.get(request, key)]))
    await expectNoLeak(cachedBy(handler), (name) => Object.assign(requestOf(name), { [key]: name }))
  })

  it('by request.user of a client without the credentials that are in the key', async () => {
    const handler: Handler = (request) => new Response(text(Reflect.get(request, 'user')))
    await expectNoLeak(cachedBy(handler, { authorization: 'key' }), (name) => known('user', name))
  })

  it('by request.user of a client with the credentials that are in the key', async () => {
    const handler: Handler = (request) => new Response(text(Reflect.get(request, 'user')))
    const respond = cachedBy(handler, { authorization: 'key' })
    await expectNoLeak(respond, (name) => known('user', name, { authorization: `Bearer ${name}` }))
  })

  it.each(['referrer', 'integrity'] as const)('by request.%s', async (member) => {
    const values = { referrer: (name: Name) => `http://shop.test/${name}`, integrity: (name: Name) => name }
    const handler: Handler = (request) => new Response(request[member])
    await expectNoLeak(cachedBy(handler), (name) => new Request(PAGE, { [member]: values[member](name) }))
  })
})

/** As `NextRequest` is made. */
class SiteRequest extends Request {
  readonly #internals: { readonly cookies: ReadonlyMap<string, string>; readonly nextUrl: URL }

  constructor(input: Request | string, init?: RequestInit) {
    super(input, init)
    const pairs = this.headers.get('cookie')?.split('; ') ?? []
    const cookies = new Map(pairs.map((pair) => pair.split('=') as [string, string]))
    this.#internals = { cookies, nextUrl: new URL(this.url) }
  }

  get cookies(): ReadonlyMap<string, string> {
    return this.#internals.cookies
  }

  get nextUrl(): URL {
    return this.#internals.nextUrl
  }

  get language(): string | null {
    return this.headers.get('cookie')
  }
}

describe('a class of requests shows no client to another', () => {
  const of = (name: Name): SiteRequest => new SiteRequest(`${PAGE}?user=${name}`, { headers: fieldsOf(name) })

  it.each([
    ['cookies', ({ cookies }: SiteRequest) => cookies.get('user')],
    ['the cookies of a clone', (request: SiteRequest) => (request.clone() as SiteRequest).cookies.get('user')],
    ['the cookies of a copy', (request: SiteRequest) => new SiteRequest(request).cookies.get('user')],
    ['nextUrl', ({ nextUrl }: SiteRequest) => nextUrl.href],
    ['a getter of its own', ({ language }: SiteRequest) => language],
  ])('by %s', async (_name, see) => {
    const seen: unknown[] = []
    const handler = (request: SiteRequest): Response => {
      seen.push(request)
      return new Response(text(see(request)))
    }
    const respond = cachedHandler(handler, { cache: createCache(), ttl: '30s', query: ['page'] })
    await expectNoLeak((request) => respond(request as SiteRequest), of)
    expect(seen.every((request) => request instanceof SiteRequest)).toBe(true)
  })
})

function attempt(see: See, request: Request): string {
  try {
    return text(see(request))
  } catch (error) {
    return String(error)
  }
}

function listed(headers: Headers): readonly string[] {
  const values: string[] = []
  headers.forEach((value) => {
    values.push(value)
  })
  return values
}

function inherited(name: string, of: object): unknown {
  return Object.getOwnPropertyDescriptor(Request.prototype, name)?.get?.call(of)
}

function own(name: string, of: object): unknown {
  return Object.getOwnPropertyDescriptor(of, name)?.get?.call(of)
}

function everyValue(of: object): unknown {
  return Object.values(Object.getOwnPropertyDescriptors(of)).map(({ get, value }) => text(get?.call(of) ?? value))
}

function symbolsOf(of: object): string {
  return inspect(
    Object.getOwnPropertySymbols(of).map((symbol) => Reflect.get(of, symbol) as unknown),
    { depth: 9 },
  )
}
