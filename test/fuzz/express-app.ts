import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { expressCache, type RouteOptions } from '@cattlegrid/express'
import compression from 'compression'
import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import { running } from '../composition/express-stack.ts'
import type { Start } from '../composition/play.ts'
import { addedBy, beforeHead, failure, type Page, pageFor, passToWriteHead, refuses } from './page.ts'
import type { Layer, Stack } from './stack.ts'

const passes: RequestHandler = (_req, _res, next) => next()

/** Starts an Express app of the stack. */
export function expressApp(stack: Stack, options: RouteOptions): Start {
  return async (probe, cache) => {
    const app = (stack.framework === 'Express 4' ? express4 : express)().set('env', 'test')
    app.use((req, _res, next) => {
      Object.assign(req, { user: req.headers['user-agent'] })
      next()
    })
    const cached = cache === undefined ? passes : expressCache(cache)(options)
    const page = pageOf(stack, probe)
    for (const layer of stack.outside) app.use(layerOf(layer))
    const inside = stack.inside.map(layerOf)
    if (stack.mode === 'app') app.use(cached).all('/page', ...inside, page)
    else app.all('/page', cached, ...inside, page)
    if (stack.handlesErrors) app.use(handlesErrors)
    return await running(createServer(app))
  }
}

const handlesErrors: ErrorRequestHandler = (error: { status?: number; headers?: object }, _req, res, next) => {
  if (res.headersSent) next(error)
  else
    res
      .status(error.status ?? 500)
      .set({ ...error.headers })
      .json({ failed: true })
}

function layerOf(layer: Layer): RequestHandler {
  if (layer.does === 'compress') return compression({ threshold: 0 })
  return (req, res, next) => {
    if (refuses(layer, req.headers)) res.status(401).send(`not ${req.headers['user-agent']}`)
    else if (layer.does === 'redirect' && req.query['b'] !== undefined) res.redirect('/other')
    else if (layer.does === 'fail' && req.query['a'] === '2') throw failure(500)
    else {
      const added = addedBy(layer, req.headers)
      if (layer.does === 'pass to writeHead') passToWriteHead(res, added)
      else if (layer.does.endsWith('late')) beforeHead(res, () => addTo(res, added))
      else addTo(res, added)
      next()
    }
  }
}

function addTo(res: Response, fields: Page['fields']): Response {
  for (const [name, value] of fields)
    if (name === 'vary') res.vary(value)
    else if (name === 'set-cookie') res.append(name, value)
    else res.setHeader(name, value)
  return res
}

function pageOf(stack: Stack, probe: { runs: number }): RequestHandler {
  const { style, status, later } = stack.handler
  const respond = (req: Request, res: Response, next: (error: unknown) => void): void => {
    const user = (): unknown => (req as { readonly user?: unknown }).user
    const { text, fields } = pageFor(stack, { headers: req.headers, a: req.query['a'], user })
    if (style === 'throw') next(failure(Math.max(status, 400)))
    else if (style.startsWith('head')) {
      addTo(
        res,
        fields.filter(([name]) => name === 'vary'),
      )
      const rest = fields.filter(([name]) => name !== 'vary')
      const passed = style === 'head as a list' ? rest.flat() : Object.fromEntries(rest)
      if (style === 'head with a reason') res.writeHead(status, 'Fine', passed).end(text)
      else res.writeHead(status, passed).end(text)
    } else ENDS[style]?.(addTo(res, fields).status(status), text)
  }
  return (req, res, next) => {
    if (req.method !== 'GET' && req.method !== 'HEAD') {
      res.status(201).json({ method: req.method, by: req.headers['user-agent'] })
      return
    }
    probe.runs += 1
    if (later) setImmediate(respond, req, res, next)
    else respond(req, res, next)
  }
}

const ENDS: Readonly<Partial<Record<Stack['handler']['style'], (res: Response, text: string) => unknown>>> = {
  send: (res, text) => res.send(text),
  json: (res, text) => res.json({ text }),
  end: (res, text) => res.end(text),
  length: (res, text) => res.set('content-length', String(text.length)).end(text),
  writes(res, text) {
    res.write(text)
    setImmediate(() => res.end(Buffer.from(text)))
  },
  encoded(res, text) {
    res.write(Buffer.from(text).toString('hex'), 'hex')
    res.write(new Uint8Array(Buffer.from(text)))
    res.end('')
  },
  stream: (res, text) => Readable.from([text, text]).pipe(res),
  redirect: (res) => res.redirect('/other'),
  abort(res, text) {
    res.write(text)
    setImmediate(() => res.destroy())
  },
}
