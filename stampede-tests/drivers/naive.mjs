// Cache-aside without any protection: the reference that lets every herd through.
import { createClient } from 'redis'

export default {
  name: 'cache-aside',
  packages: ['redis'],
  setup: { text: 'GET, load, SET: the cache-aside pattern', source: 'a reference of this suite' },
  offers: ['fleet', 'delete'],
  async open({ redisUrl, prefix, ttl }) {
    const client = createClient({ url: redisUrl })
    client.on('error', () => undefined)
    await client.connect()
    const nameOf = (key) => `${prefix}:${key}`
    return {
      async getOrSet(key, load) {
        const text = await client.get(nameOf(key))
        if (text !== null) return JSON.parse(text)
        const value = await load()
        await client.set(nameOf(key), JSON.stringify(value), { expiration: { type: 'PX', value: ttl } })
        return value
      },
      delete: (key) => client.del(nameOf(key)),
    }
  },
}
