import { startRedis } from '../packages/testkit/src/redis-server.ts'

type Redis = Awaited<ReturnType<typeof startRedis>>

declare global {
  /** The server of this test run, left for the teardown. */
  var cattlegridTestRedis: Redis | undefined
}

/** One Redis for all integration tests of a run; a test takes a namespace of its own in it. */
export default async function setup(): Promise<void> {
  globalThis.cattlegridTestRedis = await startRedis()
  process.env['CATTLEGRID_TEST_REDIS_URL'] = globalThis.cattlegridTestRedis.url
}
