// Postgres for a machine without one: PGlite, in memory, behind a TCP port that `pg` connects to. It runs in its own process,
// because a query blocks the event loop as long as it runs.
import { dataDir } from '@electric-sql/pglite-prepopulatedfs'
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import { SharedPGlite } from './shared-pglite.ts'
import { onShutdown } from './shutdown.ts'

// A new PGlite first creates its cluster, which takes longer than everything else here; this one begins with a copy of a new cluster.
const database = new SharedPGlite({ loadDataDir: await dataDir() })
const server = new PGLiteSocketServer({ db: database, host: '127.0.0.1', port: 0, maxConnections: 100 })
await server.start()

// The data is in memory only: there is nothing to save.
onShutdown(async () => {})
process.send?.({ url: `postgres://postgres@${server.getServerConn()}/postgres` })
