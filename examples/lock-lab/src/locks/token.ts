import { LOCK, lua, redis, type Script } from '../caller.ts'
import { failure, type Lock, plainCache, TTL, unfencedWrite } from '../lock.ts'

// The lock holds a token, by which its holder recognises it.

export const getCompareDel: Lock = {
  ...plainCache,
  id: 'd',
  name: 'token; GET, compare, DEL or PEXPIRE',

  *acquire(caller) {
    caller.token = caller.newToken()
    return (yield redis('SET', LOCK, caller.token, 'NX', 'PX', TTL)) === 'OK'
  },
  *release(caller) {
    if ((yield redis('GET', LOCK)) === caller.token) yield redis('DEL', LOCK)
  },
  *renew(caller) {
    if ((yield redis('GET', LOCK)) === caller.token) yield redis('PEXPIRE', LOCK, TTL)
  },

  breaks: ['foreign release', 'foreign renew', 'late write', ...unfencedWrite],
  moot: [],
  failures: [
    failure('d', 'foreign release', 'B and C hold the lock at once', 5, [
      ['A', 'SET lock A1 NX PX 60000', 'OK'],
      ['A', 'GET lock', 'A1'],
      ['time passes', 'PTTL lock', -2],
      ['B', 'SET lock B1 NX PX 60000', 'OK'],
      ['A', 'DEL lock', 1],
      ['C', 'SET lock C1 NX PX 60000', 'OK'],
    ]),
    failure('d2', 'foreign renew', 'A renews the lock of B', 7, [
      ['A', 'SET lock A1 NX PX 60000', 'OK'],
      ['A', 'GET lock', 'A1'],
      ['time passes', 'PTTL lock', -2],
      ['B', 'SET lock B1 NX PX 60000', 'OK'],
      ['half the time passes'],
      ['B', 'PTTL lock'],
      ['A', 'PEXPIRE lock 60000', 1],
      ['B', 'PTTL lock'],
    ]),
  ],
}

const deleteIfEqual: Script = {
  name: 'DEL if equal',
  source: "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0",
}

const expireIfEqual: Script = {
  name: 'PEXPIRE if equal',
  source: "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0",
}

/** The best of the folklore. As a lock it is right, but it cannot control the writes of its holder. */
export const compareAndDelete: Lock = {
  ...plainCache,
  id: 'h',
  name: 'token; Lua compare-and-delete',

  *acquire(caller) {
    caller.token = caller.newToken()
    return (yield redis('SET', LOCK, caller.token, 'NX', 'PX', TTL)) === 'OK'
  },
  *release(caller) {
    yield lua(deleteIfEqual, LOCK, caller.token)
  },
  *renew(caller) {
    yield lua(expireIfEqual, LOCK, caller.token, TTL)
  },

  breaks: ['late write', ...unfencedWrite],
  moot: [],
  failures: [
    failure('h1', 'late write', 'the late A writes v1 over v2', 9, [
      ['A', 'SET lock A1 NX PX 60000', 'OK'],
      ['A', 'loads v1 from the source'],
      ['time passes', 'PTTL lock', -2],
      ['the source changes'],
      ['B', 'SET lock B1 NX PX 60000', 'OK'],
      ['B', 'loads v2 from the source'],
      ['B', 'SET entry v2 PX 60000', 'OK'],
      ['B', 'EVAL (DEL if equal) lock B1', 1],
      ['A', 'SET entry v1 PX 60000', 'OK'],
      ['A', 'EVAL (DEL if equal) lock A1', 0],
      ['C', 'GET entry', 'v1'],
    ]),
    failure(
      'h2',
      'write after invalidation',
      'v1 is served for its whole time to live, after the invalidation was acknowledged',
      5,
      [
        ['A', 'SET lock A1 NX PX 60000', 'OK'],
        ['A', 'loads v1 from the source'],
        ['the source changes'],
        ['C', 'DEL entry', 0],
        ['A', 'SET entry v1 PX 60000', 'OK'],
        ['A', 'EVAL (DEL if equal) lock A1', 1],
        ['C', 'GET entry', 'v1'],
      ],
    ),
    failure('h3', 'double check', 'B loads again what A has just written', 6, [
      ['B', 'GET entry', null],
      ['A', 'SET lock A1 NX PX 60000', 'OK'],
      ['A', 'loads v1 from the source'],
      ['A', 'SET entry v1 PX 60000', 'OK'],
      ['A', 'EVAL (DEL if equal) lock A1', 1],
      ['B', 'SET lock B1 NX PX 60000', 'OK'],
    ]),
  ],
}

export const processIdToken: Lock = {
  ...compareAndDelete,
  id: 'h4',
  name: 'the same, token = process id',

  *acquire(caller) {
    caller.token = `pid${caller.processId}`
    return (yield redis('SET', LOCK, caller.token, 'NX', 'PX', TTL)) === 'OK'
  },

  breaks: ['unique token', ...compareAndDelete.breaks],
  failures: [
    failure('h4', 'unique token', 'B and C hold the lock at once: A could not tell the lock of B from its own', 5, [
      ['A', 'SET lock pid7 NX PX 60000', 'OK'],
      ['B runs in the process of A'],
      ['time passes', 'PTTL lock', -2],
      ['B', 'SET lock pid7 NX PX 60000', 'OK'],
      ['A', 'EVAL (DEL if equal) lock pid7', 1],
      ['C', 'SET lock pid9 NX PX 60000', 'OK'],
    ]),
  ],
}
