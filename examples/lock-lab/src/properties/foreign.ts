import { broken, kept, moot, type Property } from './property.ts'

// What a caller does to a lock that is no longer its own.

export const foreignRelease: Property = {
  name: 'foreign release',
  claim: 'a holder that comes too late does not release the lock of the next one',
  world: 'shared',
  interleavings: [
    {
      moves: [
        ['A', 'acquire'],
        ['A', 'begins to', 'release'],
        ['time passes'],
        ['B', 'acquire'],
        ['A', 'goes on'],
        ['C', 'acquire'],
      ],
      judge({ holders, granted }) {
        if (!granted.has('B')) return moot('the lock never passes from A to B by itself')
        return holders.size > 1 ? broken('B and C hold the lock at once') : kept('what A releases is not the lock of B')
      },
    },
  ],
}

export const foreignRenew: Property = {
  name: 'foreign renew',
  claim: 'a holder that comes too late does not renew the lock of the next one',
  world: 'shared',
  interleavings: [
    {
      moves: [
        ['A', 'acquire'],
        ['A', 'begins to', 'renew'],
        ['time passes'],
        ['B', 'acquire'],
        ['half of it passes'],
        ['B', 'look'],
        ['A', 'goes on'],
        ['B', 'look'],
      ],
      judge({ granted, ends: [before = 0, after = 0] }) {
        if (!granted.has('B')) return moot('the lock never passes from A to B by itself')
        return after > before ? broken('A renews the lock of B') : kept('what A renews is not the lock of B')
      },
    },
  ],
}

export const uniqueToken: Property = {
  name: 'unique token',
  claim: 'two callers in one process are two holders',
  world: 'shared',
  interleavings: [
    {
      moves: [
        ['A', 'acquire'],
        ['B runs in the process of A'],
        ['time passes'],
        ['B', 'acquire'],
        ['A', 'release'],
        ['C', 'acquire'],
      ],
      judge({ holders, granted }) {
        if (!granted.has('B')) return moot('the lock never passes from A to B by itself')
        return holders.size > 1
          ? broken('B and C hold the lock at once: A could not tell the lock of B from its own')
          : kept('A can tell the lock of B from its own')
      },
    },
  ],
}
