import type { Action, InterleavingRun } from './interleaving.ts'
import { PROPERTY_NAMES, type PropertyName } from './lock.ts'

/** The lock kept the property or broke it; moot: the property does not apply to it. */
export interface Verdict {
  readonly verdict: 'kept' | 'broken' | 'moot'
  readonly why: string
}

export interface Interleaving {
  readonly actions: readonly Action[]
  /** Decides, by what the run observed, whether the property held. */
  judge(run: InterleavingRun): Verdict
}

function interleaving(actions: readonly Action[], judge: Interleaving['judge']): Interleaving {
  return { actions, judge }
}

export interface Property {
  readonly name: PropertyName
  /** The promise that a lock for a cache must keep. */
  readonly claim: string
  /** Where the interleavings run if they need a fault. Default: on the shared server. */
  readonly server?: 'own' | 'pair' | undefined
  /** One of them that breaks it is enough. */
  readonly interleavings: readonly Interleaving[]
}

const kept = (why: string): Verdict => ({ verdict: 'kept', why })
const broken = (why: string): Verdict => ({ verdict: 'broken', why })
export const moot = (why: string): Verdict => ({ verdict: 'moot', why })

const NEVER_EXPIRES = moot('the lock never passes from A to B by itself')

/** While A is late, B fills the cache with the new value; then A writes the old one. */
const overtaken: readonly Action[] = [
  'the source changes',
  'B acquires',
  'B loads',
  'B writes',
  'B releases',
  'A writes',
  'A releases',
  'C reads',
]

/** True if two callers hold the lock after it has passed from A to B. */
function judgeTakeover(whyBroken: string, whyKept: string): Interleaving['judge'] {
  return ({ holders, granted }) => {
    if (!granted.has('B')) return NEVER_EXPIRES
    return holders.size > 1 ? broken(whyBroken) : kept(whyKept)
  }
}

function judgeLateWrite({ granted, value }: InterleavingRun): Verdict {
  if (!granted.has('B')) return NEVER_EXPIRES
  return value === 'v1' ? broken('the late A writes v1 over v2') : kept('the late write of A is refused')
}

/** A loses the lock by `event`, and writes later. */
function lateWriteAfter(event: Action): readonly Interleaving[] {
  return [interleaving(['A acquires', 'A loads', event, ...overtaken], judgeLateWrite)]
}

const retry: readonly Action[] = ['half the time passes', 'B retries']

const byName: Readonly<Record<PropertyName, Omit<Property, 'name'>>> = {
  'liveness after crash': {
    claim: 'a holder that dies blocks the others for the rest of its time, not longer',
    interleavings: [
      interleaving(['A acquires', 'A dies', 'time passes', 'B acquires'], ({ granted }) =>
        granted.has('B') ? kept('B takes over from the dead A') : broken('A is dead and the lock is locked for ever'),
      ),
    ],
  },

  'losers do not extend': {
    claim: 'a caller that is refused leaves the end of the lock where it was',
    interleavings: [
      // Three times the lock's time to live; B tries twice in each.
      interleaving(
        ['A acquires', 'A dies', ...retry, ...retry, ...retry, ...retry, ...retry, ...retry, 'B inspects'],
        ({ granted, ends: [end = 0] }) =>
          !granted.has('B') && end > 0
            ? broken('after three times its time the lock of the dead A still lives: B extends it by asking')
            : kept('asking extends nothing'),
      ),
      interleaving(
        [
          'A acquires',
          'A dies',
          'time passes',
          'C acquires, pausing',
          'B acquires',
          'B inspects',
          'half the time passes',
          'C continues',
          'B inspects',
        ],
        ({ granted, ends: [before = 0, after = 0] }) =>
          granted.has('B') && !granted.has('C') && after > before
            ? broken('C loses and yet moves the end of the lock, which B does not recognise any more')
            : kept('a loser that was paused extends nothing'),
      ),
    ],
  },

  'two concurrent callers': {
    claim: 'of two concurrent callers one holds the lock, wherever either pauses',
    interleavings: [
      interleaving(['A acquires, pausing', 'B acquires', 'A continues'], ({ holders }) =>
        holders.size > 1 ? broken('A and B hold the lock at once') : kept('one of two gets it'),
      ),
      interleaving(
        ['A acquires', 'A dies', 'time passes', 'C acquires, pausing', 'B acquires', 'C continues'],
        ({ holders, granted }) => {
          if (holders.size > 1) return broken('B and C hold the lock at once')
          return granted.has('B') || granted.has('C')
            ? kept('one of two takes over')
            : moot('no caller ever takes over from a dead holder')
        },
      ),
    ],
  },

  'foreign release': {
    claim: 'a late holder does not release the lock of the next one',
    interleavings: [
      interleaving(
        ['A acquires', 'A releases, pausing', 'time passes', 'B acquires', 'A continues', 'C acquires'],
        judgeTakeover('B and C hold the lock at once', 'what A releases is not the lock of B'),
      ),
    ],
  },

  'foreign renew': {
    claim: 'a late holder does not renew the lock of the next one',
    interleavings: [
      interleaving(
        [
          'A acquires',
          'A renews, pausing',
          'time passes',
          'B acquires',
          'half the time passes',
          'B inspects',
          'A continues',
          'B inspects',
        ],
        ({ granted, ends: [before = 0, after = 0] }) => {
          if (!granted.has('B')) return NEVER_EXPIRES
          return after > before ? broken('A renews the lock of B') : kept('what A renews is not the lock of B')
        },
      ),
    ],
  },

  'unique token': {
    claim: 'two callers in one process are two holders',
    interleavings: [
      interleaving(
        ['A acquires', 'B runs in the process of A', 'time passes', 'B acquires', 'A releases', 'C acquires'],
        judgeTakeover(
          'B and C hold the lock at once: A could not tell the lock of B from its own',
          'A can tell the lock of B from its own',
        ),
      ),
    ],
  },

  'clock skew': {
    claim: 'a caller whose clock is ahead takes no lock that still lives',
    interleavings: [
      interleaving(['A acquires', 'B has a clock that is ahead', 'B acquires'], ({ holders }) =>
        holders.size > 1
          ? broken('A and B hold the lock at once: by the clock of B the lock of A has ended')
          : kept('no clock of a caller counts'),
      ),
    ],
  },

  'late write': {
    claim: 'a holder that was paused past its time writes nothing',
    interleavings: lateWriteAfter('time passes'),
  },

  'write after invalidation': {
    claim: 'what was read before an invalidation is not written after it',
    interleavings: [
      // The lock of A is valid all the time.
      interleaving(
        ['A acquires', 'A loads', 'the source changes', 'C invalidates', 'A writes', 'A releases', 'C reads'],
        ({ value }) =>
          value === 'v1'
            ? broken('v1 is served for its whole time to live, after the invalidation was acknowledged')
            : kept('the write of A is refused'),
      ),
    ],
  },

  'double check': {
    claim: 'a caller that saw no entry, and acquires after another has written one, does not load again',
    interleavings: [
      interleaving(['B reads', 'A acquires', 'A loads', 'A writes', 'A releases', 'B acquires'], ({ granted }) =>
        granted.has('B') ? broken('B loads again what A has just written') : kept('B must read again'),
      ),
    ],
  },

  'lock evicted': {
    claim: 'a holder writes nothing when the lock is evicted and another was granted it',
    server: 'own',
    interleavings: lateWriteAfter('the lock is evicted'),
  },

  'server restarted': {
    claim: 'a holder writes nothing when the server restarts and another was granted it',
    server: 'own',
    interleavings: lateWriteAfter('the server restarts'),
  },

  failover: {
    claim: 'a holder writes nothing when the new master does not know its lock',
    server: 'pair',
    interleavings: [
      interleaving(
        ['the replica is cut off', 'A acquires', 'A loads', 'the replica takes over', ...overtaken],
        judgeLateWrite,
      ),
    ],
  },
}

export const properties: readonly Property[] = PROPERTY_NAMES.map((name) => ({ name, ...byName[name] }))
