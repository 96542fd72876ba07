import { isDeepStrictEqual } from 'node:util'
import { LOCK, lua, multi, redis, type Script } from '../caller.ts'
import { failure, type Lock, plainCache, TTL, unfencedWrite } from '../lock.ts'
import type { ExpectedStep } from '../steps.ts'

// The lock does not say which acquisition it belongs to, so a release deletes whatever lock is there.

const plainRelease: Pick<Lock, 'release'> = {
  *release() {
    yield redis('DEL', LOCK)
  },
}

const SECONDS = TTL / 1000

export const setnxDel: Lock = {
  ...plainCache,
  ...plainRelease,
  id: 'a',
  name: 'SETNX, then DEL',

  *acquire(caller) {
    return (yield redis('SETNX', LOCK, caller.name)) === 1
  },

  breaks: ['liveness after crash', ...unfencedWrite],
  // The lock never expires, so no holder is ever late.
  moot: ['foreign release', 'foreign renew', 'unique token', 'late write'],
  failures: [
    failure('a', 'liveness after crash', 'A is dead and the lock is locked for ever', 4, [
      ['A', 'SETNX lock A', 1],
      ['A', 'dies'],
      ['time passes', 'PTTL lock', -1],
      ['B', 'SETNX lock B', 0],
    ]),
  ],
}

const refusedTry: readonly ExpectedStep[] = [
  ['half the time passes'],
  ['B', 'MULTI SETNX lock B, EXPIRE lock 60 EXEC', [0, 1]],
]

export const setnxExpire: Lock = {
  ...plainCache,
  ...plainRelease,
  id: 'b',
  name: 'MULTI SETNX, EXPIRE',

  *acquire(caller) {
    const replies = yield multi(['SETNX', LOCK, caller.name], ['EXPIRE', LOCK, SECONDS])
    return isDeepStrictEqual(replies, [1, 1])
  },

  breaks: ['losers do not extend', 'foreign release', 'unique token', 'late write', ...unfencedWrite],
  moot: ['foreign renew'],
  failures: [
    failure(
      'b',
      'losers do not extend',
      'after three times its time the lock of the dead A still lives: B extends it by asking',
      4,
      [
        ['A', 'MULTI SETNX lock A, EXPIRE lock 60 EXEC', [1, 1]],
        ['A', 'dies'],
        ...Array.from({ length: 6 }, () => refusedTry).flat(),
        ['B', 'PTTL lock'],
      ],
    ),
  ],
}

export const setNxPxDel: Lock = {
  ...plainCache,
  ...plainRelease,
  id: 'c',
  name: 'SET NX PX, then DEL',

  *acquire(caller) {
    return (yield redis('SET', LOCK, caller.name, 'NX', 'PX', TTL)) === 'OK'
  },

  breaks: ['foreign release', 'unique token', 'late write', ...unfencedWrite],
  moot: ['foreign renew'],
  failures: [
    failure('c', 'foreign release', 'B and C hold the lock at once', 4, [
      ['A', 'SET lock A NX PX 60000', 'OK'],
      ['time passes', 'PTTL lock', -2],
      ['B', 'SET lock B NX PX 60000', 'OK'],
      ['A', 'DEL lock', 1],
      ['C', 'SET lock C NX PX 60000', 'OK'],
    ]),
  ],
}

export const getThenSet: Lock = {
  ...plainCache,
  ...plainRelease,
  id: 'f',
  name: 'GET, then SET',

  *acquire(caller) {
    if ((yield redis('GET', LOCK)) !== null) return false
    yield redis('SET', LOCK, caller.name, 'PX', TTL)
    return true
  },

  breaks: ['two concurrent callers', 'foreign release', 'unique token', 'late write', ...unfencedWrite],
  moot: ['foreign renew'],
  failures: [
    failure('f', 'two concurrent callers', 'A and B hold the lock at once', 4, [
      ['A', 'GET lock', null],
      ['B', 'GET lock', null],
      ['B', 'SET lock B PX 60000', 'OK'],
      ['A', 'SET lock A PX 60000', 'OK'],
    ]),
  ],
}

const setnxThenExpire: Script = {
  name: 'SETNX, EXPIRE if 1',
  source: `
    if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then return 0 end
    return redis.call('EXPIRE', KEYS[1], ARGV[2])`,
}

export const luaSetnxExpire: Lock = {
  ...plainCache,
  ...plainRelease,
  id: 'g',
  name: 'Lua SETNX, EXPIRE; then DEL',

  *acquire(caller) {
    return (yield lua(setnxThenExpire, LOCK, caller.name, SECONDS)) === 1
  },

  breaks: ['foreign release', 'unique token', 'late write', ...unfencedWrite],
  moot: ['foreign renew'],
  failures: [
    failure('g', 'foreign release', 'B and C hold the lock at once', 4, [
      ['A', 'EVAL (SETNX, EXPIRE if 1) lock A 60', 1],
      ['time passes', 'PTTL lock', -2],
      ['B', 'EVAL (SETNX, EXPIRE if 1) lock B 60', 1],
      ['A', 'DEL lock', 1],
      ['C', 'EVAL (SETNX, EXPIRE if 1) lock C 60', 1],
    ]),
  ],
}
