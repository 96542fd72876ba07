import { CacheHandler } from '@fortedigital/nextjs-cache-handler'
import createRedisHandler from '@fortedigital/nextjs-cache-handler/redis-strings'
import { createClient } from 'redis'

CacheHandler.onCreation(async () => {
  if (process.env.NEXT_PHASE === 'phase-production-build') return { handlers: [] }
  const client = createClient({ url: process.env.REDIS_URL })
  client.on('error', () => undefined)
  await client.connect()
  return { handlers: [createRedisHandler({ client, keyPrefix: 'community:' })] }
})

export default CacheHandler
