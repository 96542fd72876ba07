import type { Codec } from '../../codec/codec.ts'
import type { Entry, NewEntry } from '../../entry.ts'
import { queueMicrotask } from '../../runtime/runtime.ts'
import type { Board, Post } from '../board.ts'
import type { RefreshRequest } from '../refresh-quota.ts'
import type {
  Acquire,
  Away,
  Cleared,
  Commit,
  Done,
  Inspection,
  Lease,
  Put,
  Read,
  RefreshPermitted,
  Released,
  Renewed,
  TagNumbersRead,
  TagsInvalidated,
} from '../answers.ts'
import type { AcquireRequest, Ending, Notice, ReadTerms, Store } from '../store.ts'
import type { CallbackStore, OnRead } from './callback-store.ts'

/**
 * Passes every step on to another store: a decorator declares only what it does differently, and how
 * it reads.
 */
export abstract class ForwardingStore<Inner extends Store> implements CallbackStore {
  readonly shared: boolean
  readonly partOf: Store['partOf']
  protected readonly inner: Inner

  constructor(inner: Inner) {
    this.shared = inner.shared
    this.partOf = inner.partOf?.bind(inner)
    this.inner = inner
  }

  abstract readWithCallback(key: string, codec: Codec, onRead: OnRead, terms?: ReadTerms): void

  peek(key: string, codec: Codec, now: number): Entry | undefined {
    return this.inner.peek(key, codec, now)
  }

  /** Sends a read that calls may join only now: those that are made at the same moment share it. */
  read(key: string, codec: Codec, terms?: ReadTerms): Promise<Read> {
    return new Promise((resolve) => {
      if (terms?.onSend === undefined) this.readWithCallback(key, codec, resolve, terms)
      else queueMicrotask(() => this.readWithCallback(key, codec, resolve, terms))
    })
  }

  acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    return this.inner.acquire(key, request)
  }

  renew(lease: Lease, duration: number): Promise<Renewed> {
    return this.inner.renew(lease, duration)
  }

  commit(lease: Lease, entry: NewEntry, codec: Codec, onSlow?: () => void): Promise<Commit> {
    return this.inner.commit(lease, entry, codec, onSlow)
  }

  release(lease: Lease, ending: Ending): Promise<Released> {
    return this.inner.release(lease, ending)
  }

  put(key: string, entry: NewEntry, codec: Codec, isAbandoned?: () => boolean): Promise<Put> {
    return this.inner.put(key, entry, codec, isAbandoned)
  }

  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.inner.invalidate(key, how, holdOff)
  }

  invalidateTags(tags: readonly string[], how: 'delete' | 'expire', deleteAfter?: number): Promise<TagsInvalidated> {
    return this.inner.invalidateTags(tags, how, deleteAfter)
  }

  tagNumbers(tags: readonly string[], since?: number): Promise<TagNumbersRead | Away> {
    return this.inner.tagNumbers(tags, since)
  }

  permitRefresh(request: RefreshRequest): Promise<RefreshPermitted> {
    return this.inner.permitRefresh(request)
  }

  endRefresh(request: RefreshRequest, unused: boolean): Promise<Done> {
    return this.inner.endRefresh(request, unused)
  }

  post(post: Post): Promise<Board | Away> {
    return this.inner.post(post)
  }

  clear(isAbandoned?: () => boolean): Promise<Cleared> {
    return this.inner.clear(isAbandoned)
  }

  inspect(key: string): Promise<Inspection | Away> {
    return this.inner.inspect(key)
  }

  ping(): Promise<Done> {
    return this.inner.ping()
  }

  watch(listener: (notice: Notice) => void): () => void {
    return this.inner.watch(listener)
  }

  close(): Promise<void> {
    return this.inner.close()
  }
}
