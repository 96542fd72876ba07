import { LOCK, lua, redis, type Script } from '../command.ts'
import { type Lock, plainKeys, TTL, untiedWrite } from '../lock.ts'

const compareAndDelete: Script = {
  name: 'DEL if equal',
  source: "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0",
}

const compareAndExpire: Script = {
  name: 'PEXPIRE if equal',
  source: "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0",
}

/** The best of folklore: as a lock it is right. What it guards is not in its hands. */
export const tokenCompareAndDelete: Lock = {
  ...plainKeys,
  id: 'h',
  name: 'token; Lua compare-and-delete',

  *acquire(caller) {
    caller.token = caller.freshToken()
    return (yield redis('SET', LOCK, caller.token, 'NX', 'PX', TTL)) === 'OK'
  },
  *release(caller) {
    yield lua(compareAndDelete, LOCK, caller.token)
  },
  *renew(caller) {
    yield lua(compareAndExpire, LOCK, caller.token, TTL)
  },

  breaks: ['late write', ...untiedWrite],
  moot: [],
  told: [
    {
      id: 'h1',
      property: 'late write',
      steps: [
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
      ],
      broke: 'the late A writes v1 over v2',
    },
    {
      id: 'h2',
      property: 'write after invalidation',
      steps: [
        ['A', 'SET lock A1 NX PX 60000', 'OK'],
        ['A', 'loads v1 from the source'],
        ['the source changes'],
        ['C', 'DEL entry', 0],
        ['A', 'SET entry v1 PX 60000', 'OK'],
        ['A', 'EVAL (DEL if equal) lock A1', 1],
        ['C', 'GET entry', 'v1'],
      ],
      broke: 'v1 is served for its whole time to live, after the invalidation was acknowledged',
    },
    {
      id: 'h3',
      property: 'double check',
      steps: [
        ['B', 'GET entry', null],
        ['A', 'SET lock A1 NX PX 60000', 'OK'],
        ['A', 'loads v1 from the source'],
        ['A', 'SET entry v1 PX 60000', 'OK'],
        ['A', 'EVAL (DEL if equal) lock A1', 1],
        ['B', 'SET lock B1 NX PX 60000', 'OK'],
      ],
      broke: 'B loads again what A has just written',
    },
  ],
}
