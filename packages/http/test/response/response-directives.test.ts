import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, jest, test } from '@jest/globals'
import { directivesOf, givenDirectives } from '../../src/response/response-directives.ts'

test('what a handler says by one copy of the package is known to the layers of another copy, as its two builds are', async () => {
  await jest.isolateModulesAsync(async () => {
    const other = await import('../../src/response/response-directives.ts')
    expect(other.directivesOf).not.toBe(directivesOf)
    const res = new ServerResponse(new IncomingMessage(new Socket()))
    expect(other.givenDirectives(res)).toEqual({})
    directivesOf(res).noStore()
    other.directivesOf(res).keep({ ttl: '1m' })
    for (const given of [givenDirectives(res), other.givenDirectives(res)])
      expect(given).toEqual({ noStore: true, ttl: 60_000 })
  })
})
