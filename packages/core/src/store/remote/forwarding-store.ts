import type { Codec } from '../../codec.ts'
import type { Entry, NewEntry } from '../../entry.ts'
import {
  type Lease,
  type Acquire,
  type AcquireRequest,
  type Away,
  type Cleared,
  type Commit,
  type Done,
  type Ending,
  type Inspection,
  type Notice,
  type Put,
  type Read,
  type Released,
  type Renewed,
  type Store,
  type TagNumbersRead,
  type TagsFallen,
  awayBecause,
} from '../store.ts'

/** Told what a read found; once, and it never throws. */
export type OnRead = (read: Read) => void

/** A step on the way to `hear`, which tells it at last. What goes wrong in the step is an answer, too: nobody else would hear of it. */
export function catching(hear: OnRead, step: OnRead): OnRead {
  return (read) => {
    try {
      step(read)
    } catch (cause) {
      hear(awayBecause(cause))
    }
  }
}

/** Hands every step on to another store: a decorator says only what it does differently. */
export class ForwardingStore implements Store {
  readonly shared: boolean
  protected readonly inner: Store

  constructor(inner: Store) {
    this.shared = inner.shared
    this.inner = inner
  }

  peek(key: string, codec: Codec, now: number): Entry | undefined {
    return this.inner.peek(key, codec, now)
  }

  read(key: string, codec: Codec): Promise<Read> {
    return new Promise((resolve) => this.readWithCallback(key, codec, resolve))
  }

  /**
   * The read, told to a function: what decorators have to say of a read is not worth a promise each, which would be more to a hit than all that
   * they do. Whatever goes wrong is an answer.
   */
  readWithCallback(key: string, codec: Codec, hear: OnRead): void {
    if (this.inner instanceof ForwardingStore) this.inner.readWithCallback(key, codec, hear)
    else this.#readInner(key, codec, hear)
  }

  #readInner(key: string, codec: Codec, hear: OnRead): void {
    const failed = (cause: unknown): void => hear(awayBecause(cause))
    try {
      this.inner.read(key, codec).then(hear, failed)
    } catch (cause) {
      failed(cause)
    }
  }

  acquire(key: string, request: AcquireRequest): Promise<Acquire> {
    return this.inner.acquire(key, request)
  }

  renew(lease: Lease, duration: number): Promise<Renewed> {
    return this.inner.renew(lease, duration)
  }

  commit(lease: Lease, entry: NewEntry, codec: Codec): Promise<Commit> {
    return this.inner.commit(lease, entry, codec)
  }

  release(lease: Lease, ending: Ending): Promise<Released> {
    return this.inner.release(lease, ending)
  }

  put(key: string, entry: NewEntry, codec: Codec): Promise<Put> {
    return this.inner.put(key, entry, codec)
  }

  invalidate(key: string, how: 'delete' | 'expire', holdOff: number): Promise<Done> {
    return this.inner.invalidate(key, how, holdOff)
  }

  invalidateTags(tags: readonly string[]): Promise<TagsFallen> {
    return this.inner.invalidateTags(tags)
  }

  tagNumbers(tags: readonly string[]): Promise<TagNumbersRead | Away> {
    return this.inner.tagNumbers(tags)
  }

  clear(): Promise<Cleared> {
    return this.inner.clear()
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
