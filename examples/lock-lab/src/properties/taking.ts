import type { Move } from '../move.ts'
import { broken, kept, moot, type Property } from './property.ts'

// Who gets the lock, and who does not.

export const livenessAfterCrash: Property = {
  name: 'liveness after crash',
  claim: 'a holder that dies blocks the others for the rest of its time, not longer',
  world: 'shared',
  interleavings: [
    {
      moves: [['A', 'acquire'], ['A dies'], ['time passes'], ['B', 'acquire']],
      judge: ({ granted }) =>
        granted.has('B') ? kept('B takes over from the dead A') : broken('A is dead and the lock is locked for ever'),
    },
  ],
}

const tryAgain: readonly Move[] = [['half of it passes'], ['B', 'retry']]

export const losersDoNotExtend: Property = {
  name: 'losers do not extend',
  claim: 'who is refused leaves the end of the lock where it was',
  world: 'shared',
  interleavings: [
    {
      // Three times the lock's time to live, and B asks twice in each.
      moves: [
        ['A', 'acquire'],
        ['A dies'],
        ...tryAgain,
        ...tryAgain,
        ...tryAgain,
        ...tryAgain,
        ...tryAgain,
        ...tryAgain,
        ['B', 'look'],
      ],
      judge: ({ granted, ends: [end = 0] }) =>
        !granted.has('B') && end > 0
          ? broken('after three times its time the lock of the dead A still lives: B extends it by asking')
          : kept('asking extends nothing'),
    },
    {
      moves: [
        ['A', 'acquire'],
        ['A dies'],
        ['time passes'],
        ['C', 'begins to', 'acquire'],
        ['B', 'acquire'],
        ['B', 'look'],
        ['half of it passes'],
        ['C', 'goes on'],
        ['B', 'look'],
      ],
      judge: ({ granted, ends: [before = 0, after = 0] }) =>
        granted.has('B') && !granted.has('C') && after > before
          ? broken('C loses and yet moves the end of the lock, which B does not recognise any more')
          : kept('a loser that was paused extends nothing'),
    },
  ],
}

export const twoConcurrentCallers: Property = {
  name: 'two concurrent callers',
  claim: 'of two who ask at once one holds the lock, wherever either pauses',
  world: 'shared',
  interleavings: [
    {
      moves: [
        ['A', 'begins to', 'acquire'],
        ['B', 'acquire'],
        ['A', 'goes on'],
      ],
      judge: ({ holders }) => (holders.size > 1 ? broken('A and B hold the lock at once') : kept('one of two gets it')),
    },
    {
      moves: [
        ['A', 'acquire'],
        ['A dies'],
        ['time passes'],
        ['C', 'begins to', 'acquire'],
        ['B', 'acquire'],
        ['C', 'goes on'],
      ],
      judge({ holders, granted }) {
        if (holders.size > 1) return broken('B and C hold the lock at once')
        return granted.has('B') || granted.has('C')
          ? kept('one of two takes over')
          : moot('nobody ever takes over from a dead holder')
      },
    },
  ],
}

export const clockSkew: Property = {
  name: 'clock skew',
  claim: 'a caller whose clock is ahead takes no lock that still lives',
  world: 'shared',
  interleavings: [
    {
      moves: [['A', 'acquire'], ['B has a clock that is ahead'], ['B', 'acquire']],
      judge: ({ holders }) =>
        holders.size > 1
          ? broken('A and B hold the lock at once: by the clock of B that of A has ended')
          : kept('no clock of a caller counts'),
    },
  ],
}
