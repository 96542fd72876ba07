import { LOCK, lua, redis, type Script } from '../command.ts'
import { type Lock, plainKeys, TTL, untiedWrite } from '../lock.ts'

const setnxExpire: Script = {
  name: 'SETNX, EXPIRE if 1',
  source: `
    if redis.call('SETNX', KEYS[1], ARGV[1]) == 0 then return 0 end
    return redis.call('EXPIRE', KEYS[1], ARGV[2])`,
}

export const luaSetnxExpire: Lock = {
  ...plainKeys,
  id: 'g',
  name: 'Lua SETNX, EXPIRE; then DEL',

  *acquire(caller) {
    return (yield lua(setnxExpire, LOCK, caller.name, TTL / 1000)) === 1
  },
  *release() {
    yield redis('DEL', LOCK)
  },

  breaks: ['foreign release', 'unique token', 'late write', ...untiedWrite],
  moot: ['foreign renew'],
  told: [
    {
      id: 'g',
      property: 'foreign release',
      steps: [
        ['A', 'EVAL (SETNX, EXPIRE if 1) lock A 60', 1],
        ['time passes', 'PTTL lock', -2],
        ['B', 'EVAL (SETNX, EXPIRE if 1) lock B 60', 1],
        ['A', 'DEL lock', 1],
        ['C', 'EVAL (SETNX, EXPIRE if 1) lock C 60', 1],
      ],
      broke: 'B and C hold the lock at once',
    },
  ],
}
