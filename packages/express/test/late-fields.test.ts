import { describe, expect, test } from '@jest/globals'
import express, { type Express, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { onSite, type Site } from './support/site.ts'

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

type Arguments = readonly [number, ...unknown[]]

/** A layer that changes the head when it is written, as `on-headers` does. */
const late =
  (change: (res: Response, args: Arguments) => Arguments): RequestHandler =>
  (_req, res, next) => {
    const writeHead = res.writeHead.bind(res) as (...args: unknown[]) => typeof res
    res.writeHead = (...args: unknown[]) => writeHead(...change(res, args as unknown as Arguments))
    next()
  }

const setting = (name: string, value: string): RequestHandler =>
  late((res, args) => {
    res.setHeader(name, value)
    return args
  })

const ENDINGS: readonly (readonly [string, (res: Response) => void])[] = [
  ['sends a text', (res) => void res.send('page')],
  [
    'writes in pieces',
    (res) => {
      res.write('pa')
      res.end('ge')
    },
  ],
]

describe.each(VERSIONS)('on %s, a layer inside that changes the head when it is written', (_, make) => {
  /** The responses to three requests in a row, and the runs of the handler. */
  async function three(
    layers: readonly RequestHandler[],
    respond: (res: Response) => void = (res) => void res.send('page'),
  ) {
    let runs = 0
    const responses: Awaited<ReturnType<Site['get']>>[] = []
    await onSite(
      (app, cached) => {
        app.get('/page', (_req, res, next) => {
          res.setHeader('x-field', 'outside')
          next()
        })
        app.get('/page', cached({ ttl: '1m' }), ...layers, (_req, res) => {
          runs += 1
          respond(res)
        })
      },
      async (site) => {
        for (let request = 0; request < 3; request += 1) responses.push(await site.get('/page'))
      },
      {},
      make,
    )
    return { runs, responses }
  }

  test.each(ENDINGS)('stores the field that it sets, where the handler %s', async (_ending, respond) => {
    const { runs, responses } = await three([setting('x-field', 'inside')], respond)
    expect(responses.map(({ text, headers }) => [text, headers['x-field']])).toEqual(
      Array.from({ length: 3 }, () => ['page', 'inside']),
    )
    expect(runs).toBe(1)
  })

  test('stores the field that it passes to writeHead, and the one that a layer inside it sets', async () => {
    const passing = late((_res, [status]) => [status, { 'x-passed': 'yes' }])
    const { runs, responses } = await three([passing, setting('x-set', 'yes')])
    expect(responses.map(({ headers }) => [headers['x-passed'], headers['x-set']])).toEqual(
      Array.from({ length: 3 }, () => ['yes', 'yes']),
    )
    expect(runs).toBe(1)
  })

  test('stores the status that it passes to writeHead', async () => {
    const { runs, responses } = await three([late(() => [410])])
    expect(responses.map(({ status }) => status)).toEqual([410, 410, 410])
    expect(runs).toBe(1)
  })

  test.each([
    ['Set-Cookie', 'sid=1'],
    ['Cache-Control', 'private'],
  ])('keeps a response from others by a %s that it sets', async (name, value) => {
    const { runs, responses } = await three([setting(name, value)])
    expect(responses.flatMap(({ headers }) => headers[name.toLowerCase()])).toEqual([value, value, value])
    expect(runs).toBe(3)
  })

  test('adds a field once', async () => {
    const adding = late((res, args) => {
      res.append('Link', '</style.css>')
      return args
    })
    const { responses } = await three([adding])
    expect(responses.map(({ headers }) => headers['link'])).toEqual(Array.from({ length: 3 }, () => '</style.css>'))
  })
})
