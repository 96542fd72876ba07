// What a user of the published packages writes, compiled and run against the packed tarballs, as ES module and CommonJS.
// Every name that the README promises is used here once: a missing export, or one whose types fail outside this
// repository, breaks the check.
import { createCache, duration, json, memoryStore, raw, structured, type Cache } from '@cattlegrid/core'
import { cachedMethod } from '@cattlegrid/core/decorator'
import { checkOptions, rule, type Store } from '@cattlegrid/core/extend'
import { explain } from '@cattlegrid/explain'
import { expressCache } from '@cattlegrid/express'
import cattlegrid from '@cattlegrid/fastify'
import { httpCache } from '@cattlegrid/http'
import { logEvents } from '@cattlegrid/metrics/logs'
import { openTelemetryMetrics, openTelemetryTraces } from '@cattlegrid/metrics/opentelemetry'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { Cached, CattlegridModule, InjectCache, InvalidateTags } from '@cattlegrid/nestjs'
import { redisStore } from '@cattlegrid/redis'
import { describeAdapterContract, describeStoreContract, startRedis } from '@cattlegrid/testkit'
import { cachedHandler } from '@cattlegrid/web'
import express from 'express'
import Fastify from 'fastify'
import { register } from 'prom-client'

const cache: Cache = createCache({ store: memoryStore({ maxEntries: 10 }), ttl: '30s' })

class Prices {
  loads = 0

  @cachedMethod({ cache, ttl: '1m', key: (id: string) => `price:${id}` })
  async priceOf(id: string): Promise<number> {
    this.loads += 1
    return id.length
  }
}

function extension(): void {
  const store: Store = cache.store
  const { every } = checkOptions('poll', { every: '5s' }, { every: rule.duration(100) })
  if (store.shared || every !== 5000) throw new Error(`a duration of '5s' was parsed to ${every} ms`)
}

async function functions(): Promise<void> {
  const name: string = await cache.getOrSet('user:7', (load) => `${load.key} Ada`, { codec: json })
  const prices = new Prices()
  const total: number = (await prices.priceOf('ab')) + (await prices.priceOf('ab'))
  if (name !== 'user:7 Ada' || total !== 4 || prices.loads !== 1)
    throw new Error(`got ${name}, ${total} by ${prices.loads} loads`)
}

function middleware(): void {
  const cached = expressCache(cache)
  const app = express()
  app.use(cached())
  app.get('/products/:id', cached({ ttl: '30s' }), (request, response) => {
    const id: string = request.params.id
    response.json({ id })
  })
}

async function plugin(): Promise<void> {
  const app = Fastify()
  await app.register(cattlegrid, { cache })
  app.get('/products/:id', { config: { cache: { ttl: '30s' } } }, async () => ({ fine: true }))
  const answer = await app.inject('/products/7')
  if (answer.statusCode !== 200) throw new Error(`Fastify answered ${answer.statusCode}`)
  await app.close()
}

async function handler(): Promise<void> {
  const GET = cachedHandler(() => new Response('fine'), { cache, ttl: '30s', name: 'GET' })
  const answers = await Promise.all([1, 2].map(() => GET(new Request('http://shop.example/products'))))
  const texts = await Promise.all(answers.map((answer) => answer.text()))
  if (texts.join() !== 'fine,fine') throw new Error(`a handler answered ${texts.join()}`)
}

async function diagnosis(): Promise<void> {
  const told = explain(cache)
  await cache.getOrSet('explained', () => 1)
  const { events } = await told.explain('explained')
  if (!events.some(({ type }) => type === 'load')) throw new Error('a load is not explained')
  told.close()
}

/** The decorators are called by hand: this file has standard ones. */
function nest(): void {
  Cached({ ttl: '30s', tags: (request) => [`product:${request.params['id']}`] })(Prices)
  InvalidateTags((result: { id: string }) => [`product:${result.id}`])(Prices)
  InjectCache()(Prices, undefined, 0)
  if (CattlegridModule.forRoot({ cache }).global !== true) throw new Error('the module is not global')
}

async function metrics(): Promise<void> {
  const stops = [
    prometheusMetrics(cache),
    openTelemetryMetrics(cache),
    openTelemetryTraces(cache),
    logEvents(cache, console),
  ]
  await cache.getOrSet('measured', () => 1)
  if (!(await register.metrics()).includes('cattlegrid_loads_total{cache="default"'))
    throw new Error('a load is not in the metrics')
  for (const stop of stops) stop()
}

async function main(): Promise<void> {
  const values: unknown[] = [
    duration('1s'),
    raw,
    structured,
    httpCache,
    redisStore,
    startRedis,
    describeStoreContract,
    describeAdapterContract,
  ]
  if (values.includes(undefined)) throw new Error('an export is undefined')
  extension()
  await functions()
  await metrics()
  await diagnosis()
  middleware()
  nest()
  await handler()
  await plugin()
  await cache.close()
}

main().then(
  () => console.log('used'),
  (error: unknown) => {
    console.error(error)
    process.exitCode = 1
  },
)
