import { LOCK, redis } from '../command.ts'
import { type Lock, untiedWrite } from '../lock.ts'
import { deadline, timestampGetset } from './timestamp-getset.ts'

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

  breaks: ['two concurrent callers', 'foreign release', 'unique token', 'clock skew', 'late write', ...untiedWrite],
  told: [
    {
      id: 'e4',
      property: 'two concurrent callers',
      steps: [
        ['A', 'SETNX lock 11', 1],
        ['A dies'],
        ['time passes', 'PTTL lock', -1],
        ['C', 'SETNX lock 23', 0],
        ['C', 'GET lock', '11'],
        ['B', 'SETNX lock 23', 0],
        ['B', 'GET lock', '11'],
        ['B', 'DEL lock', 1],
        ['B', 'SETNX lock 23', 1],
        ['C', 'DEL lock', 1],
        ['C', 'SETNX lock 23', 1],
      ],
      broke: 'B and C hold the lock at once',
    },
  ],
}
