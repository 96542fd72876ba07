import type { Fault, Move } from '../move.ts'
import type { PropertyName } from '../property-name.ts'
import { broken, type Interleaving, kept, moot, type Property, type Verdict } from './property.ts'

// What lands in the cache: the lock is there for nothing else.

/** B holds the lock, and fills the cache with what the source has now; then A, who read the source before, comes to its write. */
const overtaken: readonly Move[] = [
  ['the source changes'],
  ['B', 'acquire'],
  ['B', 'load'],
  ['B', 'write'],
  ['B', 'release'],
  ['A', 'write'],
  ['A', 'release'],
  ['C', 'read'],
]

function afterLosing(...loses: readonly Move[]): readonly Interleaving[] {
  return [{ moves: [['A', 'acquire'], ['A', 'load'], ...loses, ...overtaken], judge: lateWriteRefused }]
}

function lateWriteRefused({ granted, value }: Parameters<Interleaving['judge']>[0]): Verdict {
  if (!granted.has('B')) return moot('the lock never passes from A to B by itself')
  return value === 'v1' ? broken('the late A writes v1 over v2') : kept('the late write of A is refused')
}

export const lateWrite: Property = {
  name: 'late write',
  claim: 'a holder that was paused past its time writes nothing',
  world: 'shared',
  interleavings: afterLosing(['time passes']),
}

// The lock of A is valid all the time.
export const writeAfterInvalidation: Property = {
  name: 'write after invalidation',
  claim: 'what was read before an invalidation is not written after it',
  world: 'shared',
  interleavings: [
    {
      moves: [
        ['A', 'acquire'],
        ['A', 'load'],
        ['the source changes'],
        ['C', 'invalidate'],
        ['A', 'write'],
        ['A', 'release'],
        ['C', 'read'],
      ],
      judge: ({ value }) =>
        value === 'v1'
          ? broken('v1 is served for its whole time to live, after the invalidation was acknowledged')
          : kept('the write of A is refused'),
    },
  ],
}

export const doubleCheck: Property = {
  name: 'double check',
  claim: 'who saw nothing, and asks after another has filled the cache, does not load again',
  world: 'shared',
  interleavings: [
    {
      moves: [
        ['B', 'read'],
        ['A', 'acquire'],
        ['A', 'load'],
        ['A', 'write'],
        ['A', 'release'],
        ['B', 'acquire'],
      ],
      judge: ({ granted }) =>
        granted.has('B') ? broken('B loads again what A has just written') : kept('B is told to look again'),
    },
  ],
}

export const lockEvicted: Property = afterFault('lock evicted', 'own', ['the lock is evicted'])
export const serverRestarted: Property = afterFault('server restarted', 'own', ['the server restarts'])

export const failover: Property = {
  name: 'failover',
  claim: 'a holder whose lock the new master never heard of writes nothing',
  world: 'pair',
  interleavings: [
    {
      moves: [['the replica is cut off'], ['A', 'acquire'], ['A', 'load'], ['the replica takes over'], ...overtaken],
      judge: lateWriteRefused,
    },
  ],
}

function afterFault(name: PropertyName, world: Property['world'], fault: readonly [Fault]): Property {
  const claim = `a holder writes nothing when ${fault[0]} and another was granted it`
  return { name, claim, world, interleavings: afterLosing(fault) }
}
