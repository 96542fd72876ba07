// One process whose functions report where they are: it walks one road, and answers which files it entered, in order.
import { createServer } from 'node:http'
import { register } from 'node:module'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { serveAsMember } from '../run/member.ts'

declare global {
  var enterRoom: ((file: string) => void) | undefined
}

register('./hooks.js', import.meta.url)
const [redis = ''] = process.argv.slice(2)

/** Walks a road a few times, so that what is made once stands, and then once more with its eyes open. */
async function walk(step: () => Promise<unknown>): Promise<readonly string[]> {
  for (let times = 0; times < 3; times += 1) await step()
  const entered: string[] = []
  globalThis.enterRoom = (file) => void entered.push(file)
  await step()
  // The answer to the commit.
  await sleep(50)
  globalThis.enterRoom = undefined
  return entered
}

async function openCache() {
  const [{ createCache }, { redisStore }, { createClient }] = await Promise.all([
    import('@cattlegrid/core'),
    import('@cattlegrid/redis'),
    import('redis'),
  ])
  const client = createClient({ url: redis })
  client.on('error', () => undefined)
  await client.connect()
  const store = redisStore({ client, namespace: `road-${process.pid}` })
  const cache = createCache({ ttl: '1h', store, near: false })
  await cache.ready()
  return cache
}

let keys = 0
function newKey(): string {
  keys += 1
  return `key-${keys}`
}

serveAsMember({
  async memory() {
    const { createCache } = await import('@cattlegrid/core')
    const cache = createCache({ ttl: '1h' })
    const steps = await walk(() => cache.getOrSet(newKey(), () => 'value'))
    await cache.close()
    return steps
  },
  async miss() {
    const cache = await openCache()
    const steps = await walk(() => cache.getOrSet(newKey(), () => 'value'))
    await cache.close()
    return steps
  },
  async hit() {
    const cache = await openCache()
    await cache.getOrSet('hit', () => 'value')
    const steps = await walk(() => cache.getOrSet('hit', () => 'value'))
    await cache.close()
    return steps
  },
  async express() {
    const cache = await openCache()
    const [{ default: express }, { expressCache }] = await Promise.all([
      import('express'),
      import('@cattlegrid/express'),
    ])
    const cached = expressCache(cache)
    const app = express()
    app.get('/:key', cached({ ttl: '1h' }), (_request, response) => void response.send('value'))
    const server = createServer(app).listen(0)
    const { port } = server.address() as AddressInfo
    const steps = await walk(async () => await (await fetch(`http://127.0.0.1:${port}/${newKey()}`)).text())
    server.close()
    await cache.close()
    return steps
  },
})
