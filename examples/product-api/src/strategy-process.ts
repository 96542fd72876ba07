// One API process of the page: GET /ranking behind one strategy. It tells its parent of its loads as they begin and end.
import Fastify from 'fastify'
import type { Pool } from 'pg'
import { openPool } from './database.ts'
import { onShutdown } from './shutdown.ts'
import type { Explained, TaggedEntries } from './strategies/cattlegrid.ts'
import { loadRanking } from './strategies/load-ranking.ts'
import type { Message, Reply, Request } from './strategies/messages.ts'
import { STRATEGIES, type Strategy, type StrategyName, type StrategyOptions } from './strategies/strategy.ts'

const REPORT_MS = 200
/** PGlite takes 100 connections, for all processes. */
const CONNECTIONS = 6

type Opened = Strategy & Partial<TaggedEntries & Explained>

type Open = (options: StrategyOptions) => Promise<Opened>

/** Each process loads the code of its own strategy: eight of them start at once. */
const open: Readonly<Record<StrategyName, () => Promise<Open>>> = {
  unprotected: async () => (await import('./strategies/unprotected.ts')).unprotected,
  'in-process': async () => (await import('./strategies/in-process.ts')).inProcess,
  'token-lock': async () => (await import('./strategies/token-lock.ts')).tokenLock,
  cattlegrid: async () => (await import('./strategies/cattlegrid.ts')).cattlegrid,
}

const { REDIS_URL = '', NAMESPACE = 'strategy' } = process.env
const name = STRATEGIES.find((one) => one === process.argv[2])
if (name === undefined) throw new Error(`the strategy is one of ${STRATEGIES.join(', ')}`)

const send = (message: Message): void => void process.send?.(message)
let pool: Pool | undefined
const loads = { running: 0, reading: 0, newest: 0 }

const count = (stage: 'running' | 'reading', change: 1 | -1): void => {
  loads[stage] += change
  send({ kind: 'load', loads: { ...loads, at: Date.now() } })
}

const openStrategy = await open[name]()
const strategy = await openStrategy({
  redisUrl: REDIS_URL,
  namespace: NAMESPACE,
  load: async () => {
    if (pool === undefined) throw new Error('no database yet')
    const began = Date.now()
    count('running', 1)
    try {
      const ranking = await loadRanking(pool, name, (change) => count('reading', change))
      loads.newest = Math.max(loads.newest, began)
      return ranking
    } finally {
      count('running', -1)
    }
  },
})

const counts = { fresh: 0, stale: 0, loaded: 0, failed: 0 }
const app = Fastify()
app.get('/ranking', async (_request, reply) => {
  const { ranking, status, waited } = await strategy.answer()
  counts[status] += 1
  void reply.header('x-waited', String(waited))
  return ranking
})
app.setErrorHandler((_error, _request, reply) => {
  counts.failed += 1
  return reply.code(503).send({ error: 'no ranking' })
})

const reporting = setInterval(() => {
  send({ kind: 'report', report: { ...counts, waiting: strategy.waiting(), leads: strategy.leads() } })
  Object.assign(counts, { fresh: 0, stale: 0, loaded: 0, failed: 0 })
}, REPORT_MS)

process.on('message', (request: Request) => {
  void perform(request).then(
    (result) => send({ kind: 'reply', reply: { id: request.id, ...result } }),
    (error: unknown) => send({ kind: 'reply', reply: { id: request.id, error: String(error) } }),
  )
})

async function perform(request: Request): Promise<Pick<Reply, 'took' | 'explanation'>> {
  switch (request.ask) {
    case 'soft-purge':
      // A strategy without tags can only end the lifetime of its entry.
      if (strategy.softPurge !== undefined) return { took: await strategy.softPurge() }
      await strategy.expire()
      break
    case 'explain':
      return { explanation: await strategy.explain?.() }
    case 'use-database':
      pool = openPool(request.url, CONNECTIONS)
      break
    case 'fill':
      await strategy.fill?.(request.count)
      break
    case 'expire':
    case 'invalidate':
      await strategy[request.ask]()
  }
  return {}
}

onShutdown(async () => {
  clearInterval(reporting)
  app.server.closeAllConnections()
  await app.close()
  await strategy.close()
  await pool?.end()
})
send({ kind: 'ready', url: await app.listen({ host: '127.0.0.1', port: 0 }) })
