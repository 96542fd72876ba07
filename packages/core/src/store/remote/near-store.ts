import type { Codec } from '../../codec.ts'
import type { Entry, NewEntry } from '../../entry.ts'
import type { Lease, Commit, Notice, Store } from '../store.ts'
import type { CopyLimits } from './remote-limits.ts'
import type { Runtime } from '../../runtime.ts'
import { LocalCopies } from './local-copies.ts'
import { CopyingStore } from './copying-store.ts'
import { type OnRead, catching } from './forwarding-store.ts'

/** Keeps copies of a shared store's entries in this process, for as long as it hears of what becomes of them. */
export function nearStore(store: Store, runtime: Runtime, limits: CopyLimits): Store {
  return new NearStore(store, runtime, limits)
}

class NearStore extends CopyingStore {
  readonly #runtime: Runtime
  /** Whether notices arrive, and the store answers: while they do not, nobody would say that a copy has become wrong. */
  #hearing = false
  #away = false

  constructor(inner: Store, runtime: Runtime, limits: CopyLimits) {
    super(inner, new LocalCopies(limits))
    this.#runtime = runtime
  }

  /** Only what is fresh is worth a look: an older copy is read anew, since another process may have refreshed the entry. */
  override peek(key: string, codec: Codec, now: number): Entry | undefined {
    return this.copies.get(key, codec, now)
  }

  override readWithCallback(key: string, codec: Codec, hear: OnRead): void {
    if (!this.#trusted) return super.readWithCallback(key, codec, hear)
    const reading = this.copies.begin(key, this.#runtime.coarseNow())
    const heard = catching(hear, (read) => {
      const entry = read.kind === 'found' && read.entry.from === 'store' ? read.entry : undefined
      this.copies.end(reading, entry, codec, 'near')
      hear(read)
    })
    super.readWithCallback(key, codec, heard)
  }

  /** Callers have the new value before the store's answer: the old copy must not be what they are given next. */
  override commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    this.copies.drop(lease.key)
    return super.commit(lease, entry, codec)
  }

  override watch(listener: (notice: Notice) => void): () => void {
    return this.inner.watch((notice) => {
      this.#heed(notice)
      listener(notice)
    })
  }

  get #trusted(): boolean {
    return this.#hearing && !this.#away
  }

  #heed(notice: Notice): void {
    if (notice.kind === 'connected' || notice.kind === 'disconnected') this.#hearing = notice.kind === 'connected'
    else if (notice.kind === 'away' || notice.kind === 'back') this.#away = notice.kind === 'away'
    else return this.copies.onNotice(notice)
    // Of a change nothing is known from before it: also what was asked for then is not kept.
    this.copies.dropAll()
  }
}
