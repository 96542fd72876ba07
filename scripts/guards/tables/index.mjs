// Every table, by the name that `npm run test:guards -- <name>` takes.
import { guards as admission } from './admission.mjs'
import { guards as asking } from './asking.mjs'
import { guards as flights } from './flights.mjs'
import { guards as httpRoad } from './http-road.mjs'
import { guards as httpRules } from './http-rules.mjs'
import { guards as leading } from './leading.mjs'
import { guards as memoryStore } from './memory-store.mjs'
import { guards as policies } from './policies.mjs'
import { guards as redisClient } from './redis-client.mjs'
import { guards as redisLeases } from './redis-leases.mjs'
import { guards as redisWrites } from './redis-writes.mjs'
import { guards as waiting } from './waiting.mjs'

export const tables = {
  admission,
  asking,
  flights,
  'http-road': httpRoad,
  'http-rules': httpRules,
  leading,
  'memory-store': memoryStore,
  policies,
  'redis-client': redisClient,
  'redis-leases': redisLeases,
  'redis-writes': redisWrites,
  waiting,
}
