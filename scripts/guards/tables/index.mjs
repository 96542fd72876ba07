// Every table, by the name that `npm run test:guards -- <name>` takes.
import { guards as admission } from './admission.mjs'
import { guards as asking } from './asking.mjs'
import { guards as attacks } from './attacks.mjs'
import { guards as flights } from './flights.mjs'
import { guards as hits } from './hits.mjs'
import { guards as httpAnswers } from './http-answers.mjs'
import { guards as httpHit } from './http-hit.mjs'
import { guards as httpLoads } from './http-loads.mjs'
import { guards as httpNeighbours } from './http-neighbours.mjs'
import { guards as httpProxy } from './http-proxy.mjs'
import { guards as httpRoad } from './http-road.mjs'
import { guards as httpRules } from './http-rules.mjs'
import { guards as joining } from './joining.mjs'
import { guards as leading } from './leading.mjs'
import { guards as memoryStore } from './memory-store.mjs'
import { guards as memoryTags } from './memory-tags.mjs'
import { guards as policies } from './policies.mjs'
import { guards as protocol } from './protocol.mjs'
import { guards as redisClient } from './redis-client.mjs'
import { guards as redisLeases } from './redis-leases.mjs'
import { guards as redisWrites } from './redis-writes.mjs'
import { guards as remoteStores } from './remote-stores.mjs'
import { guards as uncacheable } from './uncacheable.mjs'
import { guards as waiting } from './waiting.mjs'

export const tables = {
  admission,
  asking,
  attacks,
  flights,
  hits,
  'http-answers': httpAnswers,
  'http-hit': httpHit,
  'http-loads': httpLoads,
  'http-neighbours': httpNeighbours,
  'http-proxy': httpProxy,
  'http-road': httpRoad,
  'http-rules': httpRules,
  joining,
  leading,
  'memory-store': memoryStore,
  'memory-tags': memoryTags,
  policies,
  protocol,
  'redis-client': redisClient,
  'redis-leases': redisLeases,
  'redis-writes': redisWrites,
  'remote-stores': remoteStores,
  uncacheable,
  waiting,
}
