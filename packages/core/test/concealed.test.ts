import { inspect } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { createCache, isCattlegridError } from '../src/index.ts'
import { concealed } from '../src/concealed.ts'

const SECRET = 's3cr#t/P?W@'

describe('what an error shows of a value', () => {
  test.each([
    ['redis://:s3cr#tPW@host', 'redis://***@host'],
    ['redis://user:a/b@host:6379/0', 'redis://***@host:6379/0'],
    ['rediss://user:a@b@host?password=x#y', 'rediss://***@host'],
    ['redis://:only#password', 'redis://***'],
    ['redis://host?password=x', 'redis://host?***'],
    [':s3cr@host:6379', '***@host:6379'],
    ['user:s3cr@host', '***@host'],
    ['unix:///tmp/redis.sock', 'unix:///tmp/redis.sock'],
    ['redis://127.0.0.1:6379', 'redis://127.0.0.1:6379'],
    ['user@example.com', 'user@example.com'],
    ['30 s', '30 s'],
  ])('%s is shown as %s', (text, shown) => {
    expect(concealed(text)).toBe(shown)
  })

  test('is the value itself where nothing is hidden', () => {
    for (const value of [1, undefined, null, { a: [1, 'b'] }, [], () => 1]) expect(concealed(value)).toBe(value)
  })

  test('has no member that is named like a secret, and no object of a class', () => {
    class Client {
      options = { password: 'x' }
    }
    const getter = Object.defineProperty({}, 'a', {
      enumerable: true,
      get() {
        throw new Error('x')
      },
    })
    expect(concealed({ host: 'h', password: 'x', auth: { user: 'u' } })).toEqual({
      host: 'h',
      password: '***',
      auth: '***',
    })
    expect(concealed({ client: new Client(), url: new URL('redis://u:x@h') })).toEqual({
      client: '[object Client]',
      url: 'redis://***@h',
    })
    expect(concealed(getter)).toBe('***')
  })
})

const holders = fc.constantFrom<(url: string) => unknown>(
  (url) => url,
  (url) => ({ url }),
  (url) => [{ nodes: [url] }],
  (url) => ({ store: { socket: { path: url } } }),
  (url) => ({ deep: { deep: { deep: { deep: { deep: url } } } } }),
)
const url = fc
  .tuple(fc.constantFrom('redis', 'rediss', 'unix', 'valkey+tls'), fc.constantFrom('', 'user'), fc.string())
  .map(([scheme, user, rest]) => `${scheme}://${user}:${rest}${SECRET}host:6379/0`)

test('no option of a cache that refuses a value shows a password in it', () => {
  fc.assert(
    fc.property(fc.constantFrom('store', 'ttl', 'near', 'url', 'codec'), url, holders, (name, text, hold) => {
      let error: unknown
      try {
        createCache({ [name]: hold(text) })
      } catch (thrown) {
        error = thrown
      }
      expect(isCattlegridError(error, 'CATTLEGRID_INVALID_OPTION')).toBe(true)
      expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('s3cr')
    }),
  )
})
