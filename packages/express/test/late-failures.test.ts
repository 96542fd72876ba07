import { once } from 'node:events'
import { Agent, type ClientRequest, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import express, { type Express, type NextFunction, type Response } from 'express'
import express4 from 'express4'
import { gate, onSite, type Site } from './support/site.ts'

const VERSIONS: readonly (readonly [string, () => Express])[] = [
  ['Express 5', express],
  ['Express 4', express4],
]

/** How a handler fails after it has begun or ended its response. Express' final handler destroys the socket for the first. */
const FAILURES: readonly (readonly [string, (res: Response, next: NextFunction) => void])[] = [
  ['passes an error on', (_res, next) => next(new Error('too late'))],
  ['destroys the response', (res) => void res.destroy()],
  ['destroys the connection', (res) => void res.socket?.destroy()],
]

const CASES = VERSIONS.flatMap(([version, make]) => FAILURES.map(([what, fail]) => ({ version, what, make, fail })))

interface Reply {
  readonly options: { readonly staleIfError?: '1m'; readonly revalidate?: boolean }
  /** The response of the second run, before the failure. */
  readonly give: (res: Response) => void
}

/** The second response of a route whose handler fails late then: status, text, and what becomes of the connection. */
async function second(
  make: () => Express,
  fail: (res: Response, next: NextFunction) => void,
  { options, give }: Reply,
): Promise<{ readonly answer: readonly unknown[]; readonly logged: readonly string[] }> {
  let runs = 0
  const logged: string[] = []
  let answer: readonly unknown[] = []
  const play = async ({ runtime, get }: Site): Promise<void> => {
    await get('/a')
    await runtime.advance(1001)
    const received = await get('/a').set('Connection', 'keep-alive')
    answer = [received.status, received.text, received.headers['connection']]
  }
  await onSite(
    (app, cached) => {
      app.get('/a', cached({ ttl: '1s', softTimeout: false, ...options }), (_req, res, next) => {
        runs += 1
        res.set('ETag', '"1"')
        if (runs === 1) return void res.send('one')
        give(res)
        fail(res, next)
      })
      app.use((error: Error, _req: IncomingMessage, _res: Response, next: NextFunction) => {
        logged.push(error.message)
        next(error)
      })
    },
    play,
    {},
    make,
  )
  return { answer, logged }
}

describe.each(CASES)('on $version, a handler that $what', ({ what, make, fail }) => {
  const passesOn = what === 'passes an error on'
  const logs = passesOn ? ['too late'] : []
  // Express calls its final handler a turn later: the memory store is faster.
  const instead = [200, 'one', passesOn ? 'keep-alive' : 'close']

  test('after the end of its 500 leaves its client the stale response, after which the connection may close', async () => {
    const give = (res: Response): void => void res.status(500).send('broken')
    const { answer, logged } = await second(make, fail, { options: { staleIfError: '1m' }, give })
    expect([answer, logged]).toEqual([instead, logs])
  })

  test('in the middle of its 500 leaves its client the stale response', async () => {
    const give = (res: Response): void => void res.status(500).write('bro')
    const { answer, logged } = await second(make, fail, { options: { staleIfError: '1m' }, give })
    expect([answer, logged]).toEqual([instead, logs])
  })

  test('after its 304 leaves its client the stored response', async () => {
    const give = (res: Response): void => void res.status(304).end()
    const { answer, logged } = await second(make, fail, { options: { revalidate: true }, give })
    expect([answer, logged]).toEqual([instead, logs])
  })
})

describe.each(VERSIONS)('on %s, after a withheld 500', (_version, make) => {
  const options = { ttl: '1s', staleIfError: '1m', softTimeout: false } as const

  test('and the stale response in its place, a failure of the handler leaves the connection to the next request', async () => {
    const late = gate()
    let runs = 0
    await onSite(
      (app, cached) => {
        app.get('/a', cached(options), async (_req, res, next) => {
          runs += 1
          if (runs === 1) return void res.send('one')
          res.status(500).write('bro')
          res.end('ken')
          await late.opened
          next(new Error('too late'))
        })
        app.get('/other', async (_req, res) => {
          late.open()
          for (let turn = 0; turn < 4; turn += 1) await new Promise(setImmediate)
          res.send('other')
        })
      },
      async ({ port, runtime }) => {
        const agent = new Agent({ keepAlive: true, maxSockets: 1 })
        const ask = (path: string): Promise<string> => textOf(request({ port, path, agent }))
        await ask('/a')
        await runtime.advance(1001)
        expect([await ask('/a'), await ask('/other')]).toEqual(['one', 'other'])
        agent.destroy()
      },
      {},
      make,
    )
  })
})

async function textOf(asked: ClientRequest): Promise<string> {
  const [answer] = (await once(asked.end(), 'response')) as [IncomingMessage]
  return await text(answer)
}
