import type { Codec } from '../../codec/codec.ts'
import type { Entry, NewEntry } from '../../entry.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Commit, Lease } from '../answers.ts'
import type { Notice, ReadTerms } from '../store.ts'
import { type CallbackStore, catching, type OnRead } from './callback-store.ts'
import { CopyingStore } from './copying-store.ts'
import { LocalCopies } from './local-copies.ts'
import type { CopyLimits } from './remote-limits.ts'

/** Keeps copies of a shared store's entries in this process, while notices of their changes arrive. */
export function nearStore(store: CallbackStore, runtime: Runtime, limits: CopyLimits): CallbackStore {
  return new NearStore(store, runtime, limits)
}

class NearStore extends CopyingStore {
  readonly #runtime: Runtime
  #connected = false

  constructor(inner: CallbackStore, runtime: Runtime, limits: CopyLimits) {
    super(inner, new LocalCopies(runtime, limits))
    this.#runtime = runtime
  }

  /**
   * The copy; only a fresh one is served without a read, since another process may have refreshed the entry.
   */
  override peek(key: string, codec: Codec, now: number): Entry | undefined {
    return this.copies.peek(key, codec, now)
  }

  override readWithCallback(key: string, codec: Codec, onRead: OnRead, terms?: ReadTerms): void {
    // Asked before the read is sent: its answer may be older than a notice that did not arrive.
    if (!this.#connected || !this.receivesNotices(key)) return this.inner.readWithCallback(key, codec, onRead, terms)
    const snapshot = this.copies.begin(key, this.#runtime.coarseNow())
    const keep = catching(onRead, (read) => {
      const entry = read.kind === 'found' && read.entry.from === 'store' ? read.entry : undefined
      this.copies.keep(snapshot, entry, codec, 'near')
      onRead(read)
    })
    this.inner.readWithCallback(key, codec, keep, terms)
  }

  /** Callers have the new value before the store answers: from now on no call may get the old copy. */
  override commit(lease: Lease, entry: NewEntry, codec: Codec, onSlow?: () => void): Promise<Commit> {
    this.copies.drop(lease.key)
    return super.commit(lease, entry, codec, onSlow)
  }

  override watch(listener: (notice: Notice) => void): () => void {
    return this.inner.watch((notice) => {
      this.#onNotice(notice)
      listener(notice)
    })
  }

  #onNotice(notice: Notice): void {
    if (notice.kind === 'connected' || notice.kind === 'disconnected') {
      if (notice.part === undefined) this.#connected = notice.kind === 'connected'
      this.#dropPart(notice.part, (key) => !this.receivesNotices(key))
    } else if (notice.kind === 'away' || notice.kind === 'back')
      this.#dropPart(notice.part, (key) => this.partOf?.('entry', key).name === notice.part)
    else this.copies.onNotice(notice)
  }

  #dropPart(part: string | undefined, isAffected: (key: string) => boolean): void {
    if (part === undefined) this.copies.dropAll()
    else this.copies.dropWhere(isAffected)
  }
}
