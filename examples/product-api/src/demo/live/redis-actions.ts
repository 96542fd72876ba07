import type { Action } from './action.ts'
import type { RedisControl } from './redis-control.ts'

const RESTORE_MS = 8_000

/** Buttons that harm Redis. They need one that the demo has started. */
export function redisActions(redis: RedisControl): Action[] {
  const unavailable = redis.isOurs ? undefined : 'REDIS_URL names your own Redis, which the demo leaves alone'
  return [
    {
      id: 'stop-redis',
      label: 'Stop Redis',
      restoreLabel: 'Start Redis',
      explanation: 'ends the server; it starts again empty',
      unavailable,
      run: async () => {
        await redis.stop()
        return {
          message: 'Redis is stopped.',
          restoreAfterMs: RESTORE_MS,
          restore: async () => {
            await redis.restart()
            return 'Redis runs again, and is empty.'
          },
        }
      },
    },
    {
      id: 'freeze-redis',
      label: 'Freeze Redis',
      restoreLabel: 'Let Redis go on',
      explanation: 'SIGSTOP: connections stay open, and nothing is answered',
      unavailable,
      run: async () => {
        await redis.freeze()
        return {
          message: 'Redis is frozen.',
          restoreAfterMs: RESTORE_MS,
          restore: async () => {
            await redis.thaw()
            return 'Redis goes on.'
          },
        }
      },
    },
  ]
}
