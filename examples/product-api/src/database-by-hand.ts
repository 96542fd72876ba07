// A catalogue to point several APIs at: npm run database
import { openDatabase } from './database.ts'
import { FULL_SEED } from './schema.ts'
import { onShutdown } from './shutdown.ts'

const database = await openDatabase({ seed: FULL_SEED, url: process.env['DATABASE_URL'], onProgress: console.log })
onShutdown(database.close)
console.log(`ready until Ctrl-C: DATABASE_URL=${database.url}`)
// A child holds an IPC channel open; a Postgres of yours does not.
setInterval(() => {}, 60_000)
