import type { Name } from './caller.ts'

/** What a caller does. `retry` is to acquire unless it was granted the lock already; `look` asks when the lock ends. */
export type Verb = 'acquire' | 'retry' | 'release' | 'renew' | 'read' | 'load' | 'write' | 'invalidate' | 'look'

/** What happens to the lock at its server. */
export type Fault = 'the lock is evicted' | 'the server restarts' | 'the replica is cut off' | 'the replica takes over'

/** What happens to everybody. */
export type Happening =
  | Fault
  | 'A dies'
  | 'time passes'
  | 'half of it passes'
  | 'B has a clock that is ahead'
  | 'B runs in the process of A'
  | 'the source changes'

/**
 * One line of an interleaving. Who `begins` something pauses somewhere in it, as a process does that is stopped, swapped out or collecting
 * garbage, and `goes on` with the rest later; the lab tries every place to pause.
 */
export type Move =
  | readonly [who: Name, does: Verb]
  | readonly [who: Name, 'begins to', does: Verb]
  | readonly [who: Name, 'goes on']
  | readonly [Happening]
