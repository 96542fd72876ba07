import { LOCK, redis } from '../command.ts'
import { type Lock, TTL } from '../lock.ts'
import { tokenCompareAndDelete } from './token-compare-and-delete.ts'

export const processIdToken: Lock = {
  ...tokenCompareAndDelete,
  id: 'h4',
  name: 'the same, token = process id',

  *acquire(caller) {
    caller.token = `pid${caller.processId}`
    return (yield redis('SET', LOCK, caller.token, 'NX', 'PX', TTL)) === 'OK'
  },

  breaks: ['unique token', ...tokenCompareAndDelete.breaks],
  told: [
    {
      id: 'h4',
      property: 'unique token',
      steps: [
        ['A', 'SET lock pid7 NX PX 60000', 'OK'],
        ['B runs in the process of A'],
        ['time passes', 'PTTL lock', -2],
        ['B', 'SET lock pid7 NX PX 60000', 'OK'],
        ['A', 'EVAL (DEL if equal) lock pid7', 1],
        ['C', 'SET lock pid9 NX PX 60000', 'OK'],
      ],
      broke: 'B and C hold the lock at once: A could not tell the lock of B from its own',
    },
  ],
}
