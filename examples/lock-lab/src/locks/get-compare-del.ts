import { LOCK, redis } from '../command.ts'
import { type Lock, plainKeys, TTL, untiedWrite } from '../lock.ts'

export const getCompareDel: Lock = {
  ...plainKeys,
  id: 'd',
  name: 'token; GET, compare, DEL or PEXPIRE',

  *acquire(caller) {
    caller.token = caller.freshToken()
    return (yield redis('SET', LOCK, caller.token, 'NX', 'PX', TTL)) === 'OK'
  },
  *release(caller) {
    if ((yield redis('GET', LOCK)) === caller.token) yield redis('DEL', LOCK)
  },
  *renew(caller) {
    if ((yield redis('GET', LOCK)) === caller.token) yield redis('PEXPIRE', LOCK, TTL)
  },

  breaks: ['foreign release', 'foreign renew', 'late write', ...untiedWrite],
  moot: [],
  told: [
    {
      id: 'd',
      property: 'foreign release',
      steps: [
        ['A', 'SET lock A1 NX PX 60000', 'OK'],
        ['A', 'GET lock', 'A1'],
        ['time passes', 'PTTL lock', -2],
        ['B', 'SET lock B1 NX PX 60000', 'OK'],
        ['A', 'DEL lock', 1],
        ['C', 'SET lock C1 NX PX 60000', 'OK'],
      ],
      broke: 'B and C hold the lock at once',
    },
    {
      id: 'd2',
      property: 'foreign renew',
      steps: [
        ['A', 'SET lock A1 NX PX 60000', 'OK'],
        ['A', 'GET lock', 'A1'],
        ['time passes', 'PTTL lock', -2],
        ['B', 'SET lock B1 NX PX 60000', 'OK'],
        ['half of it passes'],
        ['B', 'PTTL lock'],
        ['A', 'PEXPIRE lock 60000', 1],
        ['B', 'PTTL lock'],
      ],
      broke: 'A renews the lock of B',
    },
  ],
}
