// One worker of a queue. Each message names a day whose report is wanted; the worker that gets the lead builds it.
import { setTimeout as rest } from 'node:timers/promises'
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'

export interface Message {
  readonly day: string
  /** The worker says that it builds the report, and is killed before it has done so. */
  readonly crash: boolean
}

export type Answer = 'building' | 'built' | 'was there' | 'try again'

const store = redisStore({ url: process.env['REDIS_URL'] ?? '', namespace: process.env['NAMESPACE'] ?? 'reports' })
const cache = createCache({ store, ttl: '10m' })

async function buildReport(day: string, crash: boolean, signal: AbortSignal): Promise<string> {
  if (crash) process.send?.('building' satisfies Answer)
  await rest(200, undefined, { signal })
  if (crash) process.kill(process.pid, 'SIGKILL')
  return `the report of ${day}`
}

async function onMessage({ day, crash }: Message): Promise<Answer> {
  // A worker that is killed holds the key for two seconds at most. The others wait for that long, and one of them takes over.
  const claim = await cache.claim<string>(`report:${day}`, { hold: '2s', waitTimeout: '1m' })
  if (claim.kind === 'value') return 'was there'
  // Nobody can tell whether another worker builds it: a queue delivers the message once more.
  if (claim.kind === 'alone') return 'try again'
  try {
    const { kind } = await claim.commit(await buildReport(day, crash, claim.signal))
    return kind === 'committed' ? 'built' : 'try again'
  } catch (error) {
    await claim.fail(error)
    throw error
  }
}

process.on('message', (message: Message) => {
  void onMessage(message).then((answer) => process.send?.(answer))
})
process.on('disconnect', () => void cache.close().then(() => process.exit()))
await cache.ready()
process.send?.('ready')
