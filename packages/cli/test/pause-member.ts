import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'

// A process that says whether it is paused, and what it is warned of, whenever one of them changes.
const [, , url = '', namespace = ''] = process.argv
const cache = createCache({ store: redisStore({ url, namespace }), ttl: '1m' })
const say = (text: string): void => void process.stdout.write(`${text}\n`)
cache.on('warning', ({ message }) => say(`warned ${message}`))
await cache.ready()
say(cache.paused ? 'ready, paused' : 'ready')
process.on('message', () => {
  void cache
    .getOrSet('k', () => `load of ${process.pid}`)
    .then((value) => process.send?.({ value, paused: cache.paused }))
})
