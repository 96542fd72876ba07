// Postgres for a machine that has none: PGlite, in memory, behind a TCP port that `pg` connects to. A process of its own,
// because a query holds its event loop for as long as it runs.
import { PGLiteSocketServer } from '@electric-sql/pglite-socket'
import { SharedPGlite } from './shared-pglite.ts'
import { onShutdown } from './shutdown.ts'

const database = new SharedPGlite()
const server = new PGLiteSocketServer({ db: database, host: '127.0.0.1', port: 0, maxConnections: 100 })
await server.start()

// It lives in memory: nothing is worth waiting for.
onShutdown(async () => {})
process.send?.({ url: `postgres://postgres@${server.getServerConn()}/postgres` })
