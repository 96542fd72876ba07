import type { Cache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import express, { type ErrorRequestHandler, type Express } from 'express'
import { answerError } from './answer-error.ts'
import type { Catalogue } from './catalogue.ts'
import { metricsPageOf } from './metrics.ts'
import { readChange, readId, readPage, RequestError } from './requests.ts'

export function createExpressApp(catalogue: Catalogue, cache: Cache): Express {
  const app = express()
  const cached = expressCache(cache, { cacheStatus: true })

  app.get('/products', cached({ ttl: '2s' }), async (req, res) => {
    res.json(await catalogue.list(readPage(req.query['page'])))
  })
  app.get('/products/:id', async (req, res) => {
    res.json(await catalogue.product(readId(req.params.id)))
  })
  app.patch('/products/:id', express.json(), async (req, res) => {
    res.json(await catalogue.update(readId(req.params.id), readChange(req.body)))
  })

  app.get('/ranking', cached({ ttl: '1s', staleWhileRevalidate: '10s' }), async (_req, res) => {
    res.json(await catalogue.ranking('ranking'))
  })
  app.get('/strict/ranking', cached({ ttl: '1s' }), async (_req, res) => {
    res.json(await catalogue.ranking('strict'))
  })
  app.get('/unprotected/ranking', async (_req, res) => {
    res.json(await catalogue.ranking('unprotected'))
  })

  const metrics = metricsPageOf(cache)
  app.get('/metrics', async (_req, res) => {
    res.type(metrics.contentType).send(await metrics.read())
  })

  app.use((_req, _res, next) => next(new RequestError(404, 'there is no such page')))
  app.use(sendError)
  return app
}

const sendError: ErrorRequestHandler = (error, _req, res, next) => {
  if (res.headersSent) {
    next(error)
    return
  }
  const { status, headers, body } = answerError(error)
  res.status(status).set(headers).json(body)
}
