// A process of an application with a cache on Redis, which does what it is told: `client-member.mjs URL VIA`. VIA: `redis` or `ioredis`, for a client of
// its own of that package, or `url`, for one that the store makes.
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'

const [url, via] = process.argv.slice(2)

async function storeOptions() {
  if (via === 'url') return { url }
  if (via === 'ioredis') return { client: new (await import('ioredis')).Redis(url).on('error', () => undefined) }
  const { createClient } = await import('redis')
  return {
    client: await createClient({ url })
      .on('error', () => undefined)
      .connect(),
  }
}

// A busy machine must not make a call time out.
const cache = createCache({
  store: redisStore(await storeOptions()),
  ttl: '1h',
  staleWhileRevalidate: '1h',
  storeTimeout: '2s',
})
/** The loads that wait to be finished, by key. */
const loads = new Map()
const followers = new Map()

/** What a lookup found, and what became of the refresh behind it. */
async function found(running) {
  const { value, role, status, from, outcome, refresh } = await running
  return { value, role, status, from, outcome: outcome?.kind, refresh: (await refresh)?.kind }
}

const commands = {
  ready: () => cache.ready({ timeout: '20s' }),
  lookup: (key, value, options) => found(cache.lookup(key, () => value, options)),
  /** Resolves once the load has begun. */
  lead: (key) =>
    new Promise((resolve, reject) => {
      const load = () =>
        new Promise((finish) => {
          loads.set(key, finish)
          resolve()
        })
      cache.lookup(key, load).catch(reject)
    }),
  finish: (key, value) => void loads.get(key)(value),
  /** Resolves once the call waits; `followed` tells how it ended. */
  async follow(key) {
    const wakes = []
    const cancel = cache.on('wake', ({ by }) => wakes.push(by))
    const waits = new Promise((resolve) => cache.on('follow', resolve))
    const ended = found(cache.lookup(key, () => 'loaded twice')).then(({ value, role }) => ({ value, role, by: wakes }))
    followers.set(key, ended.finally(cancel))
    await waits
  },
  followed: (key) => followers.get(key),
  expire: (key) => cache.expire(key),
  delete: (key) =>
    cache.delete(key).then(
      () => 'done',
      ({ code }) => code,
    ),
  invalidateTags: (tags) => cache.invalidateTags(tags),
  async many(keys) {
    const asked = []
    const values = await cache.getOrSetMany(keys, (missing) => {
      asked.push(missing.length)
      return new Map(missing.map((key) => [key, `value of ${key}`]))
    })
    return { asked, right: keys.every((key) => values.get(key) === `value of ${key}`) }
  },
}

async function obey({ id, name, args }) {
  try {
    process.send({ id, result: await commands[name](...args) })
  } catch (error) {
    process.send({ id, error: String(error.stack ?? error) })
  }
}

process.on('message', (message) => void obey(message))
process.on('disconnect', () => process.exit())
process.send({ ready: true })
