import { LOCK, redis } from '../command.ts'
import { type Lock, plainKeys, TTL, untiedWrite } from '../lock.ts'

export const setNxDel: Lock = {
  ...plainKeys,
  id: 'c',
  name: 'SET NX PX, then DEL',

  *acquire(caller) {
    return (yield redis('SET', LOCK, caller.name, 'NX', 'PX', TTL)) === 'OK'
  },
  *release() {
    yield redis('DEL', LOCK)
  },

  breaks: ['foreign release', 'unique token', 'late write', ...untiedWrite],
  moot: ['foreign renew'],
  told: [
    {
      id: 'c',
      property: 'foreign release',
      steps: [
        ['A', 'SET lock A NX PX 60000', 'OK'],
        ['time passes', 'PTTL lock', -2],
        ['B', 'SET lock B NX PX 60000', 'OK'],
        ['A', 'DEL lock', 1],
        ['C', 'SET lock C NX PX 60000', 'OK'],
      ],
      broke: 'B and C hold the lock at once',
    },
  ],
}
