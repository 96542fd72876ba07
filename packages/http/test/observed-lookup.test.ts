import { type Cache, createCache } from '@cattlegrid/core'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { RequestContext } from '../src/lookup/request-context.ts'
import { ObservedLookup } from '../src/observe/observed-lookup.ts'
import { compileRoute } from '../src/route/route.ts'
import { httpCache } from '../src/route/http-cache.ts'

let cache: Cache
beforeEach(() => {
  cache = createCache()
})
afterEach(() => cache.close())

const context = { key: 'k', directives: {}, unshareable: undefined } as unknown as RequestContext

test('a client that leaves before the store has answered leaves no run behind', async () => {
  const route = compileRoute('test', httpCache(cache), undefined, { ttl: '1m' })
  const look = (): ObservedLookup => new ObservedLookup(route, context, {}, (call) => call())
  const left = look()
  left.close()
  await left.done
  const [second, third] = [look(), look()]
  await Promise.all([second.done, third.done])
  expect([left.role, second.role, third.role]).toEqual(['leader', 'leader', 'follower'])
})

test('the end of a client that has left ends no run but its own', async () => {
  const route = compileRoute('test', httpCache(cache), undefined, { ttl: '1m' })
  const look = (): ObservedLookup => new ObservedLookup(route, context, {}, (call) => call())
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
