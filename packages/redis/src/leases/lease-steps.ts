import type { Codec } from '@cattlegrid/core'
import type {
  Acquire,
  AcquireRequest,
  Commit,
  Ending,
  Lease,
  NewEntry,
  Refused,
  Released,
  Renewed,
  Version,
} from '@cattlegrid/core/extend'
import { encodeEntry } from '../entries/encode-entry.ts'
import { isErrorReply } from '../link/connection-error.ts'
import { NotExecutedError } from '../link/link.ts'
import type { Rejection, StepParts } from '../lua/scripts.ts'
import type { TagSequence } from '../tags/tag-sequence.ts'
import type { PendingReleases } from './pending-releases.ts'
import type { Renewals } from './renewals.ts'

const HANDOVER: Ending = { kind: 'handover' }
/** The answer to a lease that another store granted: only that store can end it. */
const FOREIGN_LEASE: Refused = { kind: 'refused', why: 'expired' }

/** A lease with what this store needs to commit it. */
interface GrantedLease extends Lease {
  /** The version that its commit writes. */
  readonly version: Version
  /** The tag sequence before the load began; 0 when it is unknown: then a load that names tags is refused. */
  readonly tagSeq: number
  /**
   * When the lease ends unless it is renewed, on this process's clock: distinguishes an expired lease from a
   * voided one.
   */
  endsAt: number
  /** The duration that was requested last, ms. */
  duration: number
}

/** What the steps of a lease use beside those of a store. */
export interface LeaseParts {
  readonly tags: TagSequence
  readonly renewals: Renewals
  readonly pending: PendingReleases
  /** Called with the key whenever Redis has answered a commit. */
  readonly onCommit: (key: string) => void
  /** Called with the key when a lease has replaced what no store of this library writes. */
  readonly onForeign: (key: string) => void
}

/** The steps of a lease: acquire, renew, and the two that end it, commit and release. */
export class LeaseSteps {
  readonly #parts: StepParts & LeaseParts

  constructor(parts: StepParts & LeaseParts) {
    this.#parts = parts
  }

  async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    const { steps, scripts, tags, pending, runtime, onForeign } = this.#parts
    const token = runtime.token()
    const sentAt = runtime.elapsed()
    const answer = await steps.run(async (): Promise<Acquire> => {
      // In front: the acquire must not wait for a lease that this process has stopped using.
      const released = pending.sendOf(key)
      // Sent in the same write as the acquire, so before the load begins: a tag invalidation from now on
      // voids its result, though it names its tags only at its end. Not in the script of the acquire: one
      // address may hide many slots, and a script cannot use keys of two.
      const sequence = tags.read()
      const granted = await scripts.acquire(key, token, request)
      // This process may hold it: waiting would be in vain.
      if (granted.kind === 'held' && (await released) === false)
        throw new NotExecutedError('Redis does not release a lease that this process has stopped using')
      if (granted.kind !== 'lead') return granted
      if (granted.overForeign) onForeign(key)
      const tagSeq = await sequence()
      const lease: GrantedLease = {
        key,
        token,
        attempts: granted.attempts,
        sentAt,
        version: granted.version,
        tagSeq,
        endsAt: sentAt + request.duration,
        duration: request.duration,
      }
      return { kind: 'lead', lease }
    })
    // Redis may have executed the acquire, or may still do so. No load of this process may use that lease, so
    // it is released.
    if (answer.kind === 'away' && mayBeExecuted(answer.cause)) {
      const { duration, within = duration } = request
      // Twice: the server's time is an estimate.
      pending.add({ key, token, duration, mayAppearFor: 2 * within }, HANDOVER)
    }
    return answer
  }

  async renew(lease: Lease, duration: number): Promise<Renewed> {
    if (!isGranted(lease)) return FOREIGN_LEASE
    const { steps, renewals, runtime } = this.#parts
    const sentAt = runtime.elapsed()
    lease.duration = duration
    return await steps.run(async () => {
      const answer = await renewals.renew(lease, duration)
      if (answer !== 'renewed') return refusalOf(answer, lease, runtime.elapsed())
      lease.endsAt = sentAt + duration
      return { kind: 'renewed' }
    })
  }

  async commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    if (!isGranted(lease)) return FOREIGN_LEASE
    const { steps, scripts, tags, pending, runtime, onCommit } = this.#parts
    const { key, token, version, tagSeq } = lease
    const record = encodeEntry(entry, codec, version, tagSeq)
    if ('kind' in record) return record
    const answer = await steps.run(async (): Promise<Commit> => {
      if (entry.tags.length > 0 && (await tags.noteTagsOf(entry)).greatest > tagSeq) {
        // The entry was not written, so this process still holds the lease.
        await scripts.release(key, token, HANDOVER)
        return { kind: 'refused', why: 'tag-voided' }
      }
      const written = await scripts.commit(key, token, record)
      onCommit(key)
      return written === 'stored' ? { kind: 'stored', version } : refusalOf(written, lease, runtime.elapsed())
    })
    if (answer.kind === 'away') pending.add(lease, HANDOVER)
    return answer
  }

  async release(lease: Lease, ending: Ending): Promise<Released> {
    if (!isGranted(lease)) return FOREIGN_LEASE
    const { steps, scripts, pending, runtime } = this.#parts
    const answer = await steps.run(async (): Promise<Released> => {
      const released = await scripts.release(lease.key, lease.token, ending)
      return released === 'released' ? { kind: released } : refusalOf(released, lease, runtime.elapsed())
    })
    if (answer.kind === 'away') pending.add(lease, ending)
    return answer
  }
}

/** False if the server refused the script, or the script certainly granted nothing. */
function mayBeExecuted(cause: unknown): boolean {
  return !(cause instanceof NotExecutedError) && !isErrorReply(cause)
}

function isGranted(lease: Lease): lease is GrantedLease {
  return 'tagSeq' in lease && 'endsAt' in lease
}

function refusalOf(rejection: Rejection, { endsAt }: GrantedLease, now: number): Refused {
  if (rejection === 'taken') return { kind: 'refused', why: 'taken' }
  return { kind: 'refused', why: now < endsAt ? 'voided' : 'expired' }
}
