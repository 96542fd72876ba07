import type { IncomingHttpHeaders } from 'node:http'
import { type Cache, createCache } from '@cattlegrid/core'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { RequestContext } from '../../src/road/admission.ts'
import { ObservedLookup } from '../../src/observe/observed-lookup.ts'
import { compileRoute, type Route } from '../../src/route/route.ts'
import { httpCache } from '../../src/route/http-cache.ts'

let cache: Cache
beforeEach(() => {
  cache = createCache()
})
afterEach(() => cache.close())

const LIFETIME = { ttl: 60_000, staleWhileRevalidate: 0, staleIfError: 0 }

function lookupOf(route: Route, headers: IncomingHttpHeaders = {}): ObservedLookup {
  const context = { key: 'k', directives: {}, unshareable: undefined, exchange: { headers }, route }
  return new ObservedLookup(context as unknown as RequestContext, (call) => call())
}

test('a client that leaves before the store has answered leaves no run behind', async () => {
  const route = compileRoute('test', httpCache(cache), undefined, { ttl: '1m' })
  const look = (): ObservedLookup => lookupOf(route)
  const left = look()
  left.close()
  await left.done
  const [second, third] = [look(), look()]
  await Promise.all([second.done, third.done])
  expect([left.role, second.role, third.role]).toEqual(['leader', 'leader', 'follower'])
})

test('the end of a client that has left ends no run but its own', async () => {
  const route = compileRoute('test', httpCache(cache), undefined, { ttl: '1m' })
  const look = (): ObservedLookup => lookupOf(route)
  const left = look()
  await left.done
  left.close()
  const second = look()
  await second.done
  await left.end(undefined)
  const third = look()
  await third.done
  expect([second.role, third.role]).toEqual(['leader', 'follower'])
})

describe('a trace of a response that varies', () => {
  /** The role of a request with these fields, whose response is selected by `names`. */
  const observed = async (maxVariants: number, headers: IncomingHttpHeaders, ...names: string[]): Promise<string> => {
    const route = compileRoute('test', httpCache(cache), undefined, { ttl: '1m', maxVariants })
    const lookup = lookupOf(route, headers)
    await lookup.done
    await lookup.end({ names, lifetime: LIFETIME, initialAge: 0 })
    return lookup.role
  }

  test('is counted among the variants of its URL, as the response would be', async () => {
    const roles: string[] = []
    for (const accept of ['a', 'b', 'c', 'c', 'b', 'a']) roles.push(await observed(2, { accept }, 'accept'))
    expect(roles).toEqual(['leader', 'leader', 'leader', 'hit', 'hit', 'leader'])
  })

  test('is not stored where a field selects it that its record does not name, as the response would not be', async () => {
    const headers = { accept: 'a' }
    const other = { accept: 'b' }
    await observed(9, headers, 'accept')
    expect(await observed(9, other, 'accept', 'x-other')).toBe('leader')
    expect(await observed(9, other, 'accept', 'x-other')).toBe('leader')
    expect(await observed(9, other, 'accept', 'x-other')).toBe('hit')
  })
})
