import { describe, expect, it, jest } from '@jest/globals'
import * as here from '@cattlegrid/core'

type Core = typeof here

/** The package as a second copy of it in `node_modules` would be: no class is shared. */
function secondCopy(): Core {
  let copy: Core | undefined
  jest.isolateModules(() => {
    copy = jest.requireActual<Core>('@cattlegrid/core')
  })
  if (copy === undefined) throw new Error('The second copy was not loaded')
  return copy
}

interface Told {
  readonly code: here.ErrorCode
  readonly make: (core: Core) => here.CattlegridError
  /** What is wrong with what. */
  readonly says: readonly string[]
  /** What the reader may do about it. */
  readonly cure: RegExp
}

const errors: Record<string, Told> = {
  InvalidOptionError: {
    code: 'CATTLEGRID_INVALID_OPTION',
    make: (core) => new core.InvalidOptionError('set.ttl', -1, "a text such as '30s'"),
    says: ["'set.ttl'", '-1'],
    cure: /accepted: a text such as '30s'/,
  },
  InvalidKeyError: {
    code: 'CATTLEGRID_INVALID_KEY',
    make: (core) => new core.InvalidKeyError('k'.repeat(9000), 'at most 8192 characters'),
    says: ['9000 characters'],
    cure: /accepted: at most 8192 characters/,
  },
  LoadFailedError: {
    code: 'CATTLEGRID_LOAD_FAILED',
    make: (core) => new core.LoadFailedError('product:7', 3, 399.5, { name: 'QueryError', code: 'ECONNREFUSED' }),
    says: ["'product:7'", 'QueryError ECONNREFUSED', 'attempt 3'],
    cure: /may run in 400 ms/,
  },
  LoadTimeoutError: {
    code: 'CATTLEGRID_LOAD_TIMEOUT',
    make: (core) => new core.LoadTimeoutError('product:7', 30_000),
    says: ["'product:7'", '30000 ms'],
    cure: /raise loadTimeout/i,
  },
  WaitTimeoutError: {
    code: 'CATTLEGRID_WAIT_TIMEOUT',
    make: (core) => new core.WaitTimeoutError('product:7', 10_000),
    says: ["'product:7'", '10000 ms'],
    cure: /raise waitTimeout/i,
  },
  OverloadedError: {
    code: 'CATTLEGRID_OVERLOADED',
    make: (core) => new core.OverloadedError('product:7', 1234.5),
    says: ["'product:7'", '1235 ms'],
    cure: /staleIfError/,
  },
  TooManyWaitersError: {
    code: 'CATTLEGRID_TOO_MANY_WAITERS',
    make: (core) => new core.TooManyWaitersError('product:7'),
    says: ["'product:7'", 'Too many calls'],
    cure: /maxWaiters and maxWaitersPerKey/,
  },
  StoreAwayError: {
    code: 'CATTLEGRID_STORE_AWAY',
    make: (core) =>
      new core.StoreAwayError('delete', 'product:7', { why: 'deadline', cause: new Error('socket closed') }),
    says: ["'product:7'", 'delete', 'unknown'],
    cure: /Retrying is safe/,
  },
  ReentrantLoadError: {
    code: 'CATTLEGRID_REENTRANT',
    make: (core) => new core.ReentrantLoadError(['a', 'b', 'a']),
    says: ['A loader asks for a key that it is loading'],
    cure: /a → b → a/,
  },
  LossyCodecError: {
    code: 'CATTLEGRID_LOSSY_CODEC',
    make: (core) => new core.LossyCodecError('product:7', 1, 'value.roles (Set)'),
    says: ['json', "'product:7'", 'value.roles (Set)'],
    cure: /codec: structured/,
  },
  LeaseLostError: {
    code: 'CATTLEGRID_LEASE_LOST',
    make: (core) => new core.LeaseLostError('product:7'),
    says: ["'product:7'", 'lease'],
    cure: /no caller waits/,
  },
  ClosedError: {
    code: 'CATTLEGRID_CLOSED',
    make: (core) => new core.ClosedError(),
    says: ['The cache is closed'],
    cure: /createCache/,
  },
}

describe('every error class', () => {
  it('that the package exports is in the table', () => {
    const exported = Object.keys(here).filter((name) => name.endsWith('Error') && name !== 'CattlegridError')
    expect(exported.filter((name) => name !== 'isCattlegridError').toSorted()).toEqual(Object.keys(errors).toSorted())
  })

  it('has a code of its own', () => {
    const codes = Object.values(errors).map(({ code }) => code)
    expect(new Set(codes).size).toBe(codes.length)
  })

  it.each(Object.entries(errors))('%s is an Error with its name, its code and a stack', (name, { code, make }) => {
    const error = make(here)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ name, code })
    expect(error.stack).toContain('errors.test.ts')
    expect(String(error)).toBe(`${name}: ${error.message}`)
  })

  it.each(Object.entries(errors))('%s says what is wrong and what to do, in one line', (_, { make, says, cure }) => {
    const { message } = make(here)
    for (const part of says) expect(message).toContain(part)
    expect(message).toMatch(cure)
    expect(message).toMatch(/^[A-Z][^\n]*\.$/)
  })
})

describe('the brand', () => {
  const there = secondCopy()

  it.each(Object.entries(errors))('marks %s in whichever copy of the package it was made', (_, { code, make }) => {
    const error = make(there)
    expect(error).not.toBeInstanceOf(here.CattlegridError)
    expect(here.isCattlegridError(error)).toBe(true)
    expect(here.isCattlegridError(error, code)).toBe(true)
    expect(there.isCattlegridError(make(here), code)).toBe(true)
  })

  it('tells one code from another', () => {
    expect(here.isCattlegridError(new here.ClosedError(), 'CATTLEGRID_WAIT_TIMEOUT')).toBe(false)
  })

  it.each([
    undefined,
    null,
    'CATTLEGRID_CLOSED',
    new Error('The cache is closed.'),
    { code: 'CATTLEGRID_CLOSED' },
    { name: 'ClosedError', code: 'CATTLEGRID_CLOSED' },
    Object.assign(new Error('no'), { code: 'CATTLEGRID_CLOSED' }),
  ])('is not on %p', (error) => {
    expect(here.isCattlegridError(error)).toBe(false)
    expect(here.isCattlegridError(error, 'CATTLEGRID_CLOSED')).toBe(false)
  })

  it('does not show when the error is copied or logged', () => {
    const error = new here.ClosedError()
    expect(Object.getOwnPropertySymbols(Object.assign({}, error))).toEqual([])
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ code: 'CATTLEGRID_CLOSED' })
  })

  it('reaches classes that others derive', () => {
    class OwnError extends here.CattlegridError {}
    const error = new OwnError('CATTLEGRID_CLOSED', 'Own.')
    expect(here.isCattlegridError(error, 'CATTLEGRID_CLOSED')).toBe(true)
    expect(error.name).toBe('OwnError')
  })
})

describe('what an error carries', () => {
  it('is the option, the value and what is accepted', () => {
    const error = new here.InvalidOptionError('set.ttl', Number.NaN, 'a duration')
    expect(error).toMatchObject({ option: 'set.ttl', value: Number.NaN, accepted: 'a duration' })
  })

  it('is how long a key cools and why, but not the message of the loader', () => {
    const error = new here.LoadFailedError('k', 2, 150, { name: 'QueryError' })
    expect(error).toMatchObject({ key: 'k', attempts: 2, retryAfter: 150, cause: { name: 'QueryError' } })
    expect(error.message).toContain('(QueryError, attempt 2)')
  })

  it('is the cause in the store, and whether the step may have been executed', () => {
    const cause = new Error('socket closed')
    expect(new here.StoreAwayError('set', 'k', { why: 'error', cause })).toMatchObject({ cause, maybeApplied: true })
    for (const why of ['breaker', 'disconnected', 'busy']) {
      const unsent = new here.StoreAwayError('set', 'k', { why, cause })
      expect(unsent).toMatchObject({ maybeApplied: false, message: expect.stringContaining('was not sent') })
    }
  })

  it('is the call that the store did not execute, as its caller wrote it', () => {
    const messages = [
      ['set', 'k'],
      ['tags', 'a b'],
      ['expire-tags', 'a'],
      ['clear', '*'],
      ['ping', '*'],
    ].map(
      ([step = '', key = '']) => new here.StoreAwayError(step, key, { why: 'disconnected', cause: undefined }).message,
    )
    expect(messages.map((message) => message.split(' was not sent')[0])).toEqual([
      "set('k')",
      "invalidateTags('a b')",
      "expireTags('a')",
      'clear()',
      'ready()',
    ])
    expect(new here.StoreAwayError('ping', '*', { why: 'error', cause: undefined }).message).toBe(
      'The store did not answer ready(). Retrying is safe.',
    )
  })

  it('is no cause where none was given', () => {
    expect('cause' in new here.ClosedError()).toBe(false)
  })

  it('stays short, however large the value is that was refused', () => {
    const huge = Array.from({ length: 1000 }, () => 'v'.repeat(1000))
    const messages = [
      new here.InvalidOptionError('set.ttl', 'v'.repeat(1e6), 'a duration').message,
      new here.InvalidOptionError('set.ttl', Buffer.alloc(1e6), 'a duration').message,
      new here.InvalidOptionError('set.ttl', { deep: { huge } }, 'a duration').message,
      new here.InvalidKeyError('k'.repeat(1e6), 'a string').message,
      new here.InvalidKeyError(Buffer.alloc(1e6), 'a string').message,
      new here.InvalidKeyError({ deep: { huge } }, 'a string').message,
    ]
    expect(messages.filter(({ length }) => length > 400)).toEqual([])
  })
})
