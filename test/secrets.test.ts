import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Writable } from 'node:stream'
import { inspect } from 'node:util'
import { afterEach, expect, it, jest } from '@jest/globals'
import { type Cache, type CacheEvent, createCache, type EventName, isCattlegridError, json } from '@cattlegrid/core'
import { expressCache } from '@cattlegrid/express'
import { logEvents } from '@cattlegrid/metrics/logs'
import { openTelemetryTraces } from '@cattlegrid/metrics/opentelemetry'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import express from 'express'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import pino from 'pino'
import { Registry } from 'prom-client'

/** Stands in every value, request, response and error of this file. */
const SECRET = 'TOPSECRET'

afterEach(() => void jest.restoreAllMocks())

/** What a driver or an HTTP client throws: its message and its members quote the request and the response. */
class UpstreamError extends Error {
  override readonly name = 'UpstreamError'
  readonly code = 'E_UPSTREAM'
  readonly config = { headers: { authorization: SECRET } }
  readonly response = { body: Buffer.from(SECRET), text: SECRET }
  constructor() {
    super(`GET /?token=${SECRET}`, { cause: Object.assign(new Error(SECRET), { code: 'ECONNRESET', sql: SECRET }) })
  }
}

const fail = (): never => {
  throw new UpstreamError()
}

/** A logger as users have it, and all that it has written. */
function recordingLogger(): { readonly logger: pino.Logger; text(): string } {
  const chunks: string[] = []
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      chunks.push(String(chunk))
      done()
    },
  })
  return { logger: pino(sink), text: () => chunks.join('') }
}

/** Every kind of an event that carries something of a value or an error. */
async function playSecrets(cache: Cache): Promise<readonly unknown[]> {
  const thrown: unknown[] = []
  const caught = async (call: Promise<unknown>): Promise<void> =>
    void (await call.catch((e: unknown) => thrown.push(e)))
  cache.on('commit', fail)
  await cache.getOrSet('stored', () => ({ password: SECRET }))
  await caught(cache.getOrSet('failing', fail))
  await caught(cache.getOrSet('failing', fail))
  const cyclic: Record<string, unknown> = { [SECRET.toLowerCase()]: SECRET }
  cyclic['self'] = cyclic
  await caught(cache.getOrSet('cyclic', () => cyclic))
  await caught(cache.set('cyclic', cyclic))
  await caught(cache.getOrSet('large', () => SECRET.repeat(1000)))
  await caught(cache.getOrSet('unreadable', () => 1, { codec: { ...json, decode: fail, encode: fail } }))
  await caught(cache.getOrSet('slow', () => new Promise(() => undefined), { loadTimeout: 1 }))
  return thrown
}

/** A route whose handler answers 500 with secrets, asked by five clients at once. */
async function askFailingRoute(cache: Cache): Promise<void> {
  const app = express()
  app.get('/report', expressCache(cache)({ ttl: '1h' }), (_req, res) => {
    setTimeout(() => res.set('X-Api-Key', SECRET).status(500).json({ token: SECRET }), 20)
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/report?token=${SECRET}`
  await Promise.all(Array.from({ length: 5 }, async () => await (await fetch(url)).text()))
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

it('nothing of a value, a request or a response reaches a log, a metric, a trace or a warning of the process', async () => {
  const warnings: unknown[] = []
  jest.spyOn(process, 'emitWarning').mockImplementation((...args: unknown[]) => void warnings.push(args))
  const cache = createCache({ name: 'secrets', ttl: '1h', maxEntryBytes: 2000 })
  const { logger, text } = recordingLogger()
  const register = new Registry()
  const spans = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] })
  logEvents(cache, logger, { every: 0 })
  prometheusMetrics(cache, { register, http: true })
  openTelemetryTraces(cache, { tracer: provider.getTracer('secrets') })
  await playSecrets(cache)
  await askFailingRoute(cache)
  const told = {
    log: text(),
    metrics: await register.metrics(),
    warnings,
    spans: spans.getFinishedSpans().map((span) => [span.attributes, span.events, span.status]),
  }
  expect(told.log).toContain(
    '"error":{"name":"UpstreamError","code":"E_UPSTREAM","causes":[{"name":"Error","code":"ECONNRESET"}]}',
  )
  expect(told.log).toContain('"error":{"name":"ResponseFailure","code":"HTTP_500"}')
  expect(inspect(told, { depth: 10, maxStringLength: null }).toUpperCase()).not.toContain(SECRET)
})

it('no error of this library, printed with all its members, holds anything of a value, a request or a response', async () => {
  const cache = createCache({ name: 'secrets', ttl: '1h', maxEntryBytes: 2000, strictCodec: true })
  const seen: unknown[] = []
  const notOurs = (error: unknown): boolean => error instanceof UpstreamError
  for (const name of ['load-failed', 'outcome', 'answer', 'encode-failed', 'too-large'] satisfies EventName[])
    cache.on(name, (event: CacheEvent) => {
      if ('error' in event) seen.push(event.error)
      if (event.type === 'outcome' && event.outcome.kind === 'failed') seen.push(event.outcome.error)
    })
  const thrown = await playSecrets(cache)
  await askFailingRoute(cache)
  const ours = [...seen, ...thrown].filter((error) => error !== undefined && !notOurs(error))
  expect(ours.filter((error) => isCattlegridError(error)).length).toBeGreaterThan(2)
  expect(ours.filter((error) => (error as Error).name === 'ResponseFailure')).not.toEqual([])
  expect(inspect(ours, { depth: 10, maxStringLength: null })).not.toContain(SECRET)
})

it('a whole error reaches the log only where that is asked for', async () => {
  const cache = createCache({ ttl: '1h' })
  const { logger, text } = recordingLogger()
  logEvents(cache, logger, { errors: true })
  await cache.getOrSet('failing', fail).catch(() => undefined)
  expect(text()).toContain(`GET /?token=${SECRET}`)
})
