import { isDeepStrictEqual } from 'node:util'
import { LOCK, multi, redis } from '../command.ts'
import { type Lock, plainKeys, TTL, untiedWrite } from '../lock.ts'

const SECONDS = TTL / 1000

export const setnxExpire: Lock = {
  ...plainKeys,
  id: 'b',
  name: 'MULTI SETNX, EXPIRE',

  *acquire(caller) {
    const replies = yield multi(['SETNX', LOCK, caller.name], ['EXPIRE', LOCK, SECONDS])
    return isDeepStrictEqual(replies, [1, 1])
  },
  *release() {
    yield redis('DEL', LOCK)
  },

  breaks: ['losers do not extend', 'foreign release', 'unique token', 'late write', ...untiedWrite],
  moot: ['foreign renew'],
  told: [
    {
      id: 'b',
      property: 'losers do not extend',
      steps: [
        ['A', 'MULTI SETNX lock A, EXPIRE lock 60 EXEC', [1, 1]],
        ['A dies'],
        ['half of it passes'],
        ['B', 'MULTI SETNX lock B, EXPIRE lock 60 EXEC', [0, 1]],
        ['half of it passes'],
        ['B', 'MULTI SETNX lock B, EXPIRE lock 60 EXEC', [0, 1]],
        ['half of it passes'],
        ['B', 'MULTI SETNX lock B, EXPIRE lock 60 EXEC', [0, 1]],
        ['half of it passes'],
        ['B', 'MULTI SETNX lock B, EXPIRE lock 60 EXEC', [0, 1]],
        ['half of it passes'],
        ['B', 'MULTI SETNX lock B, EXPIRE lock 60 EXEC', [0, 1]],
        ['half of it passes'],
        ['B', 'MULTI SETNX lock B, EXPIRE lock 60 EXEC', [0, 1]],
        ['B', 'PTTL lock'],
      ],
      broke: 'after three times its time the lock of the dead A still lives: B extends it by asking',
    },
  ],
}
