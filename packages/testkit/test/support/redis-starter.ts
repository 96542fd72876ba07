// A process that starts a server and then stays alive until a test ends it.
import { startRedis } from '../../src/redis-server.ts'

const server = await startRedis({ own: true })
process.stdout.write(String(server.port))
setInterval(() => undefined, 1000)
