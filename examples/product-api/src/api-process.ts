// One API process of a fleet. The environment configures it. It sends its URL to its parent, and ends on a signal.
import { startApi, type Framework } from './api.ts'
import { onShutdown } from './shutdown.ts'

const { DATABASE_URL, REDIS_URL, NAMESPACE } = process.env
if (DATABASE_URL === undefined) throw new Error('DATABASE_URL is not set')

const framework: Framework = process.argv[2] === 'fastify' ? 'fastify' : 'express'
const api = await startApi({ framework, databaseUrl: DATABASE_URL, redisUrl: REDIS_URL, namespace: NAMESPACE })
onShutdown(api.close)
process.send?.({ url: api.url })
