import type { Caller } from '../caller.ts'
import { LOCK, redis } from '../command.ts'
import { type Lock, plainKeys, untiedWrite } from '../lock.ts'

/** Seconds on the clock of whoever asks. */
const LIFE = 10

/** The lock holds the moment at which it ends. The recipe adds a second. */
export function deadline(caller: Caller): number {
  return caller.now() + LIFE + 1
}

export const timestampGetset: Lock = {
  ...plainKeys,
  id: 'e',
  name: 'timestamp; take-over by GETSET',

  *acquire(caller) {
    if ((yield redis('SETNX', LOCK, deadline(caller))) === 1) return true
    if (Number(yield redis('GET', LOCK)) >= caller.now()) return false
    const previous = Number(yield redis('GETSET', LOCK, deadline(caller)))
    return previous < caller.now()
  },
  *release(caller) {
    if (Number(yield redis('GET', LOCK)) >= caller.now()) yield redis('DEL', LOCK)
  },
  *end() {
    return Number(yield redis('GET', LOCK))
  },

  breaks: ['losers do not extend', 'foreign release', 'unique token', 'clock skew', 'late write', ...untiedWrite],
  moot: ['foreign renew'],
  told: [
    {
      id: 'e1',
      property: 'clock skew',
      steps: [
        ['A', 'SETNX lock 11', 1],
        ['B has a clock that is ahead'],
        ['B', 'SETNX lock 23', 0],
        ['B', 'GET lock', '11'],
        ['B', 'GETSET lock 23', '11'],
      ],
      broke: 'A and B hold the lock at once: by the clock of B that of A has ended',
    },
    {
      id: 'e2',
      property: 'losers do not extend',
      steps: [
        ['A', 'SETNX lock 11', 1],
        ['A dies'],
        ['time passes', 'PTTL lock', -1],
        ['C', 'SETNX lock 23', 0],
        ['C', 'GET lock', '11'],
        ['B', 'SETNX lock 23', 0],
        ['B', 'GET lock', '11'],
        ['B', 'GETSET lock 23', '11'],
        ['B', 'GET lock', '23'],
        ['half of it passes'],
        ['C', 'GETSET lock 29', '23'],
        ['B', 'GET lock', '29'],
      ],
      broke: 'C loses and yet moves the end of the lock, which B does not recognise any more',
    },
    {
      id: 'e3',
      property: 'foreign release',
      steps: [
        ['A', 'SETNX lock 11', 1],
        ['time passes', 'PTTL lock', -1],
        ['B', 'SETNX lock 23', 0],
        ['B', 'GET lock', '11'],
        ['B', 'GETSET lock 23', '11'],
        ['A', 'GET lock', '23'],
        ['A', 'DEL lock', 1],
        ['C', 'SETNX lock 23', 1],
      ],
      broke: 'B and C hold the lock at once',
    },
  ],
}
