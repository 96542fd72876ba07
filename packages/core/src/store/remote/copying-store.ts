import type { Codec } from '../../codec/codec.ts'
import type { NewEntry } from '../../entry.ts'
import type { Cleared, Commit, Done, Lease, Put, Released, TagsInvalidated } from '../answers.ts'
import type { Ending } from '../store.ts'
import type { CallbackStore } from './callback-store.ts'
import { ForwardingStore } from './forwarding-store.ts'
import type { LocalCopies } from './local-copies.ts'

/**
 * A store beside which this process keeps copies. A change that this process makes drops the copies as soon
 * as the store has answered, whatever the answer is: the notice may come later, or never. Nobody has seen the
 * change before that answer, except for a commit, whose value the callers have when it is sent.
 */
export abstract class CopyingStore extends ForwardingStore<CallbackStore> {
  protected readonly copies: LocalCopies

  constructor(inner: CallbackStore, copies: LocalCopies) {
    super(inner)
    this.copies = copies
  }

  /** True while notices report every change of the key's entry, if the store is connected at all. */
  protected receivesNotices(key: string): boolean {
    return this.partOf?.('entry', key).receivesNotices(key) !== false
  }

  override async commit(lease: Lease, entry: NewEntry, codec: Codec, onSlow?: () => void): Promise<Commit> {
    const answer = await this.inner.commit(lease, entry, codec, onSlow)
    this.copies.drop(lease.key)
    return answer
  }

  override async release(lease: Lease, ending: Ending): Promise<Released> {
    const answer = await this.inner.release(lease, ending)
    // The store has removed the old value, too.
    if (ending.kind === 'uncacheable') this.copies.drop(lease.key)
    return answer
  }

  override async put(key: string, entry: NewEntry, codec: Codec, isAbandoned?: () => boolean): Promise<Put> {
    const answer = await this.inner.put(key, entry, codec, isAbandoned)
    this.copies.drop(key)
    return answer
  }

  override async invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    const answer = await this.inner.invalidate(key, how, holdOff)
    this.copies.drop(key)
    return answer
  }

  override async invalidateTags(
    tags: readonly string[],
    how: 'delete' | 'expire',
    deleteAfter?: number,
  ): Promise<TagsInvalidated> {
    const answer = await this.inner.invalidateTags(tags, how, deleteAfter)
    this.copies.dropTags(tags)
    return answer
  }

  override async clear(): Promise<Cleared> {
    const answer = await this.inner.clear()
    this.copies.dropAll()
    return answer
  }

  override close(): Promise<void> {
    this.copies.dropAll()
    return this.inner.close()
  }
}
