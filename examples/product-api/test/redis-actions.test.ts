import { expect, test } from '@jest/globals'
import type { RedisServer } from '@cattlegrid/testkit'
import { redisActions } from '../src/demo/live/redis-actions.ts'
import { Show } from '../src/demo/live/show.ts'
import { RedisControl } from '../src/demo/live/redis-control.ts'

const refuse = (): never => {
  throw new Error('touched')
}

function serverWith(pid: number | undefined): RedisServer {
  const url = 'redis://127.0.0.1:6379'
  return { url, port: 6379, pid, stop: async () => refuse(), pause: refuse, resume: refuse, kill: async () => refuse() }
}

const show = new Show({
  databaseUrl: Promise.resolve(''),
  redis: new RedisControl(serverWith(undefined)),
  onSpawn: () => undefined,
})

test('the buttons for Redis cannot be pressed, and say why, if it is not the demo’s own', async () => {
  const redis = new RedisControl(serverWith(undefined))
  const reasons = redisActions(show, redis).map(({ unavailable }) => unavailable)
  expect(reasons).toEqual(
    Array.from({ length: 2 }, () => 'REDIS_URL names your own Redis, which the demo leaves alone'),
  )
  // Nor is it stopped at the end.
  await redis.close()
})

test('the buttons for Redis can be pressed if the demo has started it', () => {
  const actions = redisActions(show, new RedisControl(serverWith(7)))
  expect(actions.map(({ unavailable }) => unavailable)).toEqual([undefined, undefined])
})
