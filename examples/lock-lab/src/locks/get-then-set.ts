import { LOCK, redis } from '../command.ts'
import { type Lock, plainKeys, TTL, untiedWrite } from '../lock.ts'

export const getThenSet: Lock = {
  ...plainKeys,
  id: 'f',
  name: 'GET, then SET',

  *acquire(caller) {
    if ((yield redis('GET', LOCK)) !== null) return false
    yield redis('SET', LOCK, caller.name, 'PX', TTL)
    return true
  },
  *release() {
    yield redis('DEL', LOCK)
  },

  breaks: ['two concurrent callers', 'foreign release', 'unique token', 'late write', ...untiedWrite],
  moot: ['foreign renew'],
  told: [
    {
      id: 'f',
      property: 'two concurrent callers',
      steps: [
        ['A', 'GET lock', null],
        ['B', 'GET lock', null],
        ['B', 'SET lock B PX 60000', 'OK'],
        ['A', 'SET lock A PX 60000', 'OK'],
      ],
      broke: 'A and B hold the lock at once',
    },
  ],
}
