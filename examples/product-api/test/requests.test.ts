import { describe, expect, test } from '@jest/globals'
import { HELP, readOptions } from '../src/demo/options.ts'
import { readChange, readId, readPage } from '../src/requests.ts'

describe('a product id', () => {
  test('is a whole number above 0', () => {
    expect(readId('42')).toBe(42)
  })

  test.each(['0', '-1', '1.5', '1e3', ' 1', 'abc', '', '99999999999', '2147483648', undefined])(
    '%p names no product: 404',
    (text) => {
      expect(() => readId(text)).toThrow(expect.objectContaining({ status: 404, statusCode: 404 }))
    },
  )
})

describe('a page number', () => {
  test('is 1 when left out', () => {
    expect(readPage(undefined)).toBe(1)
    expect(readPage('7')).toBe(7)
  })

  test.each(['0', 'x', '1000001', ['1', '2']])('%p is a bad request', (text) => {
    expect(() => readPage(text)).toThrow(expect.objectContaining({ status: 400 }))
  })
})

describe('a change', () => {
  test('carries the new price', () => {
    expect(readChange({ priceCents: 1_999, more: true })).toEqual({ priceCents: 1_999 })
  })

  test.each([
    undefined,
    null,
    'text',
    [],
    {},
    { priceCents: '5' },
    { priceCents: 0 },
    { priceCents: 1.5 },
    { priceCents: NaN },
  ])('%p is a bad request', (body) => {
    expect(() => readChange(body)).toThrow(expect.objectContaining({ status: 400 }))
  })
})

describe('the options of the demo', () => {
  test('stand for the page by default, and for the full data with the table alone', () => {
    expect(readOptions([], {})).toMatchObject({
      help: false,
      headless: false,
      memory: false,
      expiries: 10,
      port: 8420,
      seed: { reviews: 10_000 },
    })
    expect(readOptions(['--headless'], {})).toMatchObject({ headless: true, seed: { reviews: 200_000 } })
  })

  test('are all in the help, which fits a terminal of 80 columns', () => {
    for (const option of ['--headless', '--memory', '--port', '--expiries', '--reviews']) expect(HELP).toContain(option)
    expect(HELP.split('\n').filter((line) => line.length > 80)).toEqual([])
    expect(readOptions(['--help'], {})).toMatchObject({ help: true })
  })

  test('come from the command line and the environment', () => {
    const env = { DATABASE_URL: 'postgres://there', REDIS_URL: 'redis://there' }
    expect(readOptions(['--headless', '--reviews', '500', '--expiries=3'], env)).toMatchObject({
      headless: true,
      seed: { reviews: 500 },
      expiries: 3,
      databaseUrl: 'postgres://there',
      redisUrl: 'redis://there',
    })
  })

  test('an empty variable is one that is not set', () => {
    expect(readOptions([], { DATABASE_URL: '', REDIS_URL: '' })).toMatchObject({
      databaseUrl: undefined,
      redisUrl: undefined,
    })
  })

  test.each([
    { args: ['--reviews', 'many'], message: '--reviews must be a whole number above 0' },
    { args: ['--expiries', '0'], message: '--expiries must be a whole number above 0' },
    { args: ['--unknown'], message: "Unknown option '--unknown'" },
    { args: ['extra'], message: "Unexpected argument 'extra'" },
  ])('$args are refused: $message', ({ args, message }) => {
    expect(() => readOptions(args, {})).toThrow(message)
  })
})
