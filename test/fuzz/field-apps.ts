import { createServer, type ServerResponse } from 'node:http'
import type { Cache } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import cattlegrid from '@cattlegrid/fastify'
import express, { type RequestHandler, type Response } from 'express'
import express4 from 'express4'
import Fastify, { type FastifyReply } from 'fastify'
import { running } from '../composition/express-stack.ts'
import { actInside, actOutside, type FieldStack, type Head, type Outside, outerValue } from './field-stack.ts'
import { beforeHead } from './page.ts'

interface App {
  readonly port: number
  close(): Promise<void>
}

/** Starts the app of a stack; `cache`: undefined for the bare one. */
export function fieldApp(stack: FieldStack, cache: Cache | undefined): Promise<App> {
  return stack.framework === 'Fastify 5' ? onFastify(stack, cache) : onExpress(stack, cache)
}

const passes: RequestHandler = (_req, _res, next) => next()

function onExpress({ framework, outside, inside, later }: FieldStack, cache: Cache | undefined): Promise<App> {
  const app = (framework === 'Express 4' ? express4 : express)().set('env', 'test')
  for (const layer of outside)
    app.use((req, res, next) => {
      const value = outerValue(layer, String(req.headers['x-user']))
      if (value !== undefined && layer.does !== 'after') outer(layer, res, headOf(res), value)
      next()
      if (value !== undefined && layer.does === 'after' && !res.headersSent) res.setHeader(layer.field, value)
    })
  app.get('/page', cache === undefined ? passes : expressCache(cache)({ ttl: '1m' }), (_req, res) => {
    const respond = (): void => {
      const passed = Object.assign({}, ...inside.map((act) => actInside(act, headOf(res)))) as Record<string, string>
      if (Object.keys(passed).length === 0) res.send('page')
      else res.writeHead(200, passed).end('page')
    }
    if (later) setImmediate(respond)
    else respond()
  })
  return running(createServer(app))
}

/** What a layer outside does to Node's response. */
function outer(layer: Outside, res: ServerResponse, head: Head, value: string): void {
  if (layer.does === 'late') beforeHead(res, () => res.setHeader(layer.field, value))
  else if (layer.does === 'wrapped') {
    const setHeader = res.setHeader.bind(res)
    const marks = (name: string, given: string): ServerResponse =>
      setHeader(name, name.toLowerCase() === layer.field ? `${given}, ${value}` : given)
    Object.assign(res, { setHeader: marks })
  } else actOutside(layer, head, layer.field, value)
}

function headOf(res: Response): Head {
  return {
    get: (name) => res.getHeader(name) as string | string[] | undefined,
    set: (name, value) => void res.set(name, value),
    remove: (name) => res.removeHeader(name),
    append: (name, value) => void res.append(name, value),
    addLine: (name, value) => void res.appendHeader(name, value),
    setAll: (fields) => void res.setHeaders(fields as Map<string, string>),
    own(name, value) {
      if (name === 'link') res.links({ next: '/2' })
      else if (name === 'vary') (res as unknown as { vary(names: readonly string[]): unknown }).vary(['Origin', value])
      else res.header(name, value)
    },
  }
}

async function onFastify({ outside, inside, later }: FieldStack, cache: Cache | undefined): Promise<App> {
  const app = Fastify({ forceCloseConnections: true })
  for (const layer of outside) {
    app.addHook('onRequest', (request, reply, done) => {
      const value = outerValue(layer, String(request.headers['x-user']))
      if (value !== undefined && layer.does !== 'after' && layer.does !== 'late') outerOfFastify(layer, reply, value)
      done()
    })
    app.addHook('onSend', async (request, reply, payload) => {
      const value = outerValue(layer, String(request.headers['x-user']))
      if (value !== undefined && (layer.does === 'after' || layer.does === 'late')) reply.header(layer.field, value)
      return payload
    })
  }
  if (cache !== undefined) await app.register(cattlegrid, { cache, close: false })
  app.get('/page', { config: { cache: { ttl: '1m' } } }, async (_request, reply) => {
    if (later) await new Promise(setImmediate)
    for (const act of inside) reply.headers(actInside(act, headOfReply(reply)))
    return reply.send('page')
  })
  const port = Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
  return { port, close: () => app.close() }
}

function outerOfFastify(layer: Outside, reply: FastifyReply, value: string): void {
  if (layer.does === 'wrapped') outer(layer, reply.raw, headOfReply(reply), value)
  else actOutside(layer, headOfReply(reply), layer.field, value)
}

function headOfReply(reply: FastifyReply): Head {
  const get = (name: string): string | string[] | undefined => reply.getHeader(name) as string | string[] | undefined
  const addLine = (name: string, value: string): void => {
    const lines = [get(name) ?? [], value].flat()
    reply.header(name, lines.length === 1 ? value : lines)
  }
  return {
    get,
    set: (name, value) => void reply.header(name, value),
    remove: (name) => void reply.removeHeader(name),
    append: addLine,
    addLine,
    setAll: (fields) => void reply.headers(Object.fromEntries(fields)),
    own: (name, value) => void reply.headers({ [name]: value }),
  }
}
