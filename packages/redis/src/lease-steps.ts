import type {
  Acquire,
  AcquireRequest,
  Codec,
  Commit,
  Ending,
  Lease,
  NewEntry,
  Released,
  Renewed,
  Runtime,
} from '@cattlegrid/core'
import { encodeEntry } from './encode-entry.ts'
import { FOREIGN_LEASE, type GrantedLease, isGranted, refusalOf } from './granted-lease.ts'
import type { Scripts } from './scripts.ts'
import type { StepRunner } from './step-runner.ts'
import { type TagSequence, withTimeout } from './tag-sequence.ts'

const HANDOVER: Ending = { kind: 'handover' }

/** The steps of a lease: acquire, renew, and the two that end it, commit and release. */
export class LeaseSteps {
  readonly #steps: StepRunner
  readonly #scripts: Scripts
  readonly #tags: TagSequence
  readonly #runtime: Runtime
  readonly #onCommit: (key: string) => void

  /** `onCommit` is called with the key whenever Redis has answered a commit. */
  constructor(
    steps: StepRunner,
    scripts: Scripts,
    tags: TagSequence,
    runtime: Runtime,
    onCommit: (key: string) => void,
  ) {
    this.#steps = steps
    this.#scripts = scripts
    this.#tags = tags
    this.#runtime = runtime
    this.#onCommit = onCommit
  }

  async acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    const token = this.#runtime.token()
    const sentAt = this.#runtime.now()
    const answer = await this.#steps.run(async (): Promise<Acquire> => {
      // Sent in the same write as the acquire, so before the load begins: a tag invalidation from now on voids the load's result.
      const reading = request.tags ? this.#tags.read() : undefined
      const granted = await this.#scripts.acquire(key, token, request)
      if (granted.kind !== 'lead') return granted
      const tagSeq = reading === undefined ? 0 : await withTimeout(reading, this.#runtime)
      const lease: GrantedLease = {
        key,
        token,
        attempts: granted.attempts,
        sentAt,
        version: granted.version,
        tagSeq,
        endsAt: sentAt + request.duration,
      }
      return { kind: 'lead', lease }
    })
    // Redis may still execute the acquire. No load of this process may use that lease, so it is released.
    if (answer.kind === 'away') void this.#steps.run(() => this.#scripts.release(key, token, HANDOVER))
    return answer
  }

  async renew(lease: Lease, duration: number): Promise<Renewed> {
    if (!isGranted(lease)) return FOREIGN_LEASE
    const sentAt = this.#runtime.now()
    return await this.#steps.run(async () => {
      const answer = await this.#scripts.renew(lease.key, lease.token, duration)
      if (answer !== 'renewed') return refusalOf(answer, lease, this.#runtime.now())
      lease.endsAt = sentAt + duration
      return { kind: 'renewed' }
    })
  }

  async commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    if (!isGranted(lease)) return FOREIGN_LEASE
    const { key, token, version, tagSeq } = lease
    const record = encodeEntry(entry, codec, version, tagSeq)
    if ('kind' in record) return record
    return await this.#steps.run(async (): Promise<Commit> => {
      if (entry.tags.length > 0 && (await this.#tags.noteTagsOf(entry)).greatest > tagSeq) {
        // The entry was not written, so this process still holds the lease.
        await this.#scripts.release(key, token, HANDOVER)
        return { kind: 'refused', why: 'tag-voided' }
      }
      const answer = await this.#scripts.commit(key, token, record)
      this.#onCommit(key)
      return answer === 'stored' ? { kind: 'stored', version } : refusalOf(answer, lease, this.#runtime.now())
    })
  }

  async release(lease: Lease, ending: Ending): Promise<Released> {
    if (!isGranted(lease)) return FOREIGN_LEASE
    return await this.#steps.run(async () => {
      const answer = await this.#scripts.release(lease.key, lease.token, ending)
      return answer === 'released' ? { kind: answer } : refusalOf(answer, lease, this.#runtime.now())
    })
  }
}
