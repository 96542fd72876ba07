// A process that starts a cluster and a Sentinel set-up, and then stays alive until a test ends it.
import { startRedisCluster } from './redis-cluster.ts'
import { startRedisSentinel } from './redis-sentinel.ts'

const cluster = await startRedisCluster()
const { master, replica } = await startRedisSentinel()
const servers = [...cluster.masters, ...cluster.replicas, master, replica]
process.stdout.write(JSON.stringify(servers.map(({ pid }) => pid)))
setInterval(() => undefined, 1000)
