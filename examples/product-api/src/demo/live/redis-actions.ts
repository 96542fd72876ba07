import type { Action } from './action.ts'
import { lasting } from './lasting.ts'
import type { RedisControl } from './redis-control.ts'
import type { Show } from './show.ts'

const RESTORE_MS = 8_000

/** Buttons that harm Redis. They need one that the demo has started. */
export function redisActions(show: Show, redis: RedisControl): Action[] {
  const unavailable = redis.isOurs ? undefined : 'REDIS_URL names your own Redis, which the demo leaves alone'
  return [
    {
      id: 'stop-redis',
      label: 'Stop Redis',
      restoreLabel: 'Start Redis',
      explanation: 'ends the server; it starts again empty',
      unavailable,
      run: () =>
        lasting(show, {
          message: 'Redis is stopped',
          deed: (lasted) => `Redis was stopped for ${lasted}, and is empty, under cattlegrid`,
          begin: () => redis.stop(),
          end: async () => {
            await redis.restart()
            for (const { expiryCount } of show.fleets) expiryCount.entryEnded()
          },
          restoreAfterMs: RESTORE_MS,
        }),
    },
    {
      id: 'freeze-redis',
      label: 'Freeze Redis',
      restoreLabel: 'Let Redis go on',
      explanation: 'SIGSTOP: its connections stay open',
      unavailable,
      run: () =>
        lasting(show, {
          message: 'Redis is frozen',
          deed: (lasted) => `Redis was frozen for ${lasted}, under cattlegrid`,
          begin: () => redis.freeze(),
          end: () => redis.thaw(),
          restoreAfterMs: RESTORE_MS,
        }),
    },
  ]
}
