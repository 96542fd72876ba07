import type { Codec } from '../../codec.ts'
import type { NewEntry } from '../../entry.ts'
import type { Lease, Cleared, Commit, Done, Ending, Put, Released, Store, TagsFallen } from '../store.ts'
import type { LocalCopies } from './local-copies.ts'
import { ForwardingStore } from './forwarding-store.ts'

/**
 * A store beside which copies are kept. Whatever this process changes is copied no more when the store's answer is there, and whatever that
 * is: the push may come later, or never. Nobody hears of the change before, but of a commit: its callers have the value when it is sent.
 */
export class CopyingStore extends ForwardingStore {
  protected readonly copies: LocalCopies

  constructor(inner: Store, copies: LocalCopies) {
    super(inner)
    this.copies = copies
  }

  override async commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    const answer = await this.inner.commit(lease, entry, codec)
    this.copies.drop(lease.key)
    return answer
  }

  override async release(lease: Lease, ending: Ending): Promise<Released> {
    const answer = await this.inner.release(lease, ending)
    // The old value is gone from the store, too.
    if (ending.kind === 'uncacheable') this.copies.drop(lease.key)
    return answer
  }

  override async put(key: string, entry: NewEntry, codec: Codec): Promise<Put> {
    const answer = await this.inner.put(key, entry, codec)
    this.copies.drop(key)
    return answer
  }

  override async invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    const answer = await this.inner.invalidate(key, how, holdOff)
    this.copies.drop(key)
    return answer
  }

  override async invalidateTags(tags: readonly string[]): Promise<TagsFallen> {
    const answer = await this.inner.invalidateTags(tags)
    this.copies.dropTags(tags)
    return answer
  }

  override async clear(): Promise<Cleared> {
    const answer = await this.inner.clear()
    this.copies.dropAll()
    return answer
  }
}
