import type {} from './redis-setup.ts'

export default async function teardown(): Promise<void> {
  await globalThis.cattlegridTestRedis?.stop()
}
