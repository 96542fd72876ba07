import { LOCK, redis } from '../command.ts'
import { type Lock, plainKeys, untiedWrite } from '../lock.ts'

export const setnxDel: Lock = {
  ...plainKeys,
  id: 'a',
  name: 'SETNX, then DEL',

  *acquire(caller) {
    return (yield redis('SETNX', LOCK, caller.name)) === 1
  },
  *release() {
    yield redis('DEL', LOCK)
  },

  breaks: ['liveness after crash', ...untiedWrite],
  // Its lock never ends by itself, so nobody is ever too late.
  moot: ['foreign release', 'foreign renew', 'unique token', 'late write'],
  told: [
    {
      id: 'a',
      property: 'liveness after crash',
      steps: [['A', 'SETNX lock A', 1], ['A dies'], ['time passes', 'PTTL lock', -1], ['B', 'SETNX lock B', 0]],
      broke: 'A is dead and the lock is locked for ever',
    },
  ],
}
