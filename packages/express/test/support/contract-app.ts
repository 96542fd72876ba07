import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Cache } from '@cattlegrid/core'
import {
  type AdapterServer,
  type ContractAnswer,
  type ContractRequest,
  type ContractRoute,
  sendStream,
} from '@cattlegrid/testkit'
import express, { type Express, type Request, type RequestHandler, type Response } from 'express'
import { type Cached, expressCache } from '../../src/index.ts'

/** The contract's routes as a user of Express would write them; `make` makes the app of one of its versions, `copies` of the package serve the routes by turns. */
export async function startExpress(
  cache: Cache,
  routes: readonly ContractRoute[],
  make: () => Express = express,
  copies: readonly (typeof expressCache)[] = [expressCache],
): Promise<AdapterServer> {
  const app = make()
  app.set('trust proxy', true)
  app.set('env', 'test')
  // With no field of Express' own, a response may reach Node without any field set before.
  app.disable('x-powered-by')
  const caches = copies.map((copy) => copy(cache))
  for (const [index, route] of routes.entries())
    declare(app, caches[index % caches.length] ?? expressCache(cache), route)
  const server = createServer(app)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async (): Promise<void> => {
    const closed = new Promise<unknown>((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

function declare(app: Express, cached: Cached, route: ContractRoute): void {
  const { method = 'GET', path, cache, before, handle } = route
  const door: RequestHandler = (req, res, next) => {
    const result = before?.(seenBy(req, res))
    res.set({ ...result?.headers })
    result?.wrap?.(res)
    if (result?.refuse === true) res.status(401).json({ error: 'who are you?' })
    else next()
  }
  // Express 4 does not look at what a handler returns; 5 makes an error of a rejection with nothing.
  const handler: RequestHandler = (req, res, next) => {
    const failed = (error: unknown): void => next(error ?? new Error('rejected with nothing'))
    handle(seenBy(req, res))
      .then((answer) => answerBy(res, answer))
      .catch(failed)
  }
  // The types of Express do not know every method of Node's.
  const verb = method.toLowerCase() as 'get' | 'head' | 'post'
  app[verb](path, door, cached(cache), handler)
}

function seenBy(req: Request, res: Response): ContractRequest {
  const { method, originalUrl: url, headers, query } = req
  return { method, url, headers, query, directives: res.cattlegrid, raw: { req, res } }
}

function answerBy(res: Response, answer: ContractAnswer): void {
  if (answer.send === 'raw') return answer.write(res)
  res.status(answer.status)
  for (const [name, value] of Object.entries(answer.headers))
    res.set(name, typeof value === 'string' ? value : [...value])
  if (answer.send === 'json') res.json(answer.body)
  else if (answer.send === 'stream') sendStream(res, answer.body, answer.trailers)
  else if (answer.send === 'nothing') res.end()
  else res.send(answer.body)
}
