import { type Caller, LOCK, redis } from '../caller.ts'
import { failure, type Lock, plainCache, unfencedWrite } from '../lock.ts'

// The lock holds the moment at which it ends, by the clock of the caller that took it. After that moment another caller may take it over.

const LIFETIME_SECONDS = 10

/** The recipe adds a second. */
function deadline(caller: Caller): number {
  return caller.now() + LIFETIME_SECONDS + 1
}

export const timestampGetset: Lock = {
  ...plainCache,
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
  *endsAt() {
    return Number(yield redis('GET', LOCK))
  },

  breaks: ['losers do not extend', 'foreign release', 'unique token', 'clock skew', 'late write', ...unfencedWrite],
  moot: ['foreign renew'],
  failures: [
    failure('e1', 'clock skew', 'A and B hold the lock at once: by the clock of B the lock of A has ended', 5, [
      ['A', 'SETNX lock 11', 1],
      ['B has a clock that is ahead'],
      ['B', 'SETNX lock 23', 0],
      ['B', 'GET lock', '11'],
      ['B', 'GETSET lock 23', '11'],
    ]),
    failure(
      'e2',
      'losers do not extend',
      'C loses and yet moves the end of the lock, which B does not recognise any more',
      11,
      [
        ['A', 'SETNX lock 11', 1],
        ['A', 'dies'],
        ['time passes', 'PTTL lock', -1],
        ['C', 'SETNX lock 23', 0],
        ['C', 'GET lock', '11'],
        ['B', 'SETNX lock 23', 0],
        ['B', 'GET lock', '11'],
        ['B', 'GETSET lock 23', '11'],
        ['B', 'GET lock', '23'],
        ['half the time passes'],
        ['C', 'GETSET lock 29', '23'],
        ['B', 'GET lock', '29'],
      ],
    ),
    failure('e3', 'foreign release', 'B and C hold the lock at once', 7, [
      ['A', 'SETNX lock 11', 1],
      ['time passes', 'PTTL lock', -1],
      ['B', 'SETNX lock 23', 0],
      ['B', 'GET lock', '11'],
      ['B', 'GETSET lock 23', '11'],
      ['A', 'GET lock', '23'],
      ['A', 'DEL lock', 1],
      ['C', 'SETNX lock 23', 1],
    ]),
  ],
}

export const timestampDel: Lock = {
  ...timestampGetset,
  id: 'e4',
  name: 'timestamp; take-over by DEL, SETNX',

  *acquire(caller) {
    if ((yield redis('SETNX', LOCK, deadline(caller))) === 1) return true
    if (Number(yield redis('GET', LOCK)) >= caller.now()) return false
    yield redis('DEL', LOCK)
    return (yield redis('SETNX', LOCK, deadline(caller))) === 1
  },

  breaks: ['two concurrent callers', 'foreign release', 'unique token', 'clock skew', 'late write', ...unfencedWrite],
  failures: [
    failure('e4', 'two concurrent callers', 'B and C hold the lock at once', 10, [
      ['A', 'SETNX lock 11', 1],
      ['A', 'dies'],
      ['time passes', 'PTTL lock', -1],
      ['C', 'SETNX lock 23', 0],
      ['C', 'GET lock', '11'],
      ['B', 'SETNX lock 23', 0],
      ['B', 'GET lock', '11'],
      ['B', 'DEL lock', 1],
      ['B', 'SETNX lock 23', 1],
      ['C', 'DEL lock', 1],
      ['C', 'SETNX lock 23', 1],
    ]),
  ],
}
