import { type Cache, type CacheOptions, type Codec, createCache, memoryStore, type Store } from '@cattlegrid/core'
import {
  type Entry,
  makeEntry,
  type NewEntry,
  type Notice,
  type StorePart,
  type TagNumber,
} from '@cattlegrid/core/extend'
import { createManualRuntime, type ManualRuntime } from '@cattlegrid/testkit'

/** A step that can be slowed down. */
export type Step =
  | 'read'
  | 'acquire'
  | 'commit'
  | 'release'
  | 'put'
  | 'invalidate'
  | 'invalidateTags'
  | 'tagNumbers'
  | 'permitRefresh'
  | 'endRefresh'
  | 'clear'
  | 'ping'
const steps: readonly Step[] = [
  'read',
  'acquire',
  'commit',
  'release',
  'put',
  'invalidate',
  'invalidateTags',
  'tagNumbers',
  'permitRefresh',
  'endRefresh',
  'clear',
  'ping',
]

/** The node of the tags of a store with several nodes. */
export const TAGS_NODE = 'tags'

const NEVER: TagNumber = { invalidated: 0, expired: 0, expiredAt: 0, goneAt: Infinity }

/**
 * A store that several processes share, and that takes its time. What it answers is decided when it is asked; the answer arrives after the
 * step's delay. Like every shared store it keeps what it tells of tags for the reader to judge.
 */
export class Remote {
  readonly runtime: ManualRuntime = createManualRuntime()
  readonly memory: Store
  /** How often each step was asked for. */
  readonly asked: Record<string, number> = {}
  /** How long each step takes, ms; Infinity: it is never answered. */
  readonly delays: Partial<Record<Step, number>> = {}
  /** How long its connection takes for each answer to a read, ms: answers come one after the other, as those with large values do. */
  perRead = 0
  /** What every step says instead, while this is there, or only those in `refused`. */
  refuses: Error | undefined
  refused: readonly Step[] = steps
  /** The keys of which it answers no step, as those of a node that is down; it answers the others. */
  lost: readonly string[] = []
  /** The node of each key, where it has several; that of the tags is `TAGS_NODE`. Set it before `join`. */
  nodeOf: ((key: string) => string) | undefined
  /** The nodes that answer no step, as frozen ones do. */
  silent: readonly string[] = []
  /** Whether notices about a key arrive, where it subscribes by parts. Set it before `join`. */
  receivesNotices: ((key: string) => boolean) | undefined
  /** Whether it keeps bytes, as a store outside the process does: what it reads are views of a larger reply. */
  encodes = false
  /** Whether what it tells gets lost. */
  muted = false
  /** Judged by its readers, and so kept beside the memory store, which would judge by itself. */
  readonly #numbers = new Map<string, TagNumber>()
  readonly #noted = new Map<string, number>()
  readonly #forgotten = new Set<string>()
  #sequence = 0
  readonly #listeners = new Set<(notice: Notice) => void>()
  /** When its connection is free again. */
  #freeAt = 0

  constructor() {
    // No jitter between the followers of a lease, so that every moment in a test is exact.
    this.runtime.setRandom([0])
    // Without a sweep: the pending timers that tests count are those of calls.
    this.memory = memoryStore({ runtime: { ...this.runtime, schedule: () => () => undefined } })
  }

  /** A cache on it, as a process of its own has it. */
  join(options: CacheOptions = {}): Cache {
    return createCache({ store: this.view(), runtime: this.runtime, ttl: '10s', storeTimeout: '250ms', ...options })
  }

  /** Says something to every process, as a store does that loses its channel. */
  tell(notice: Notice): void {
    if (!this.muted) for (const listener of this.#listeners) listener(notice)
  }

  /** Answers nothing more, or everything again. */
  freeze(frozen: boolean): void {
    for (const step of steps) {
      if (frozen) this.delays[step] = Infinity
      else delete this.delays[step]
    }
  }

  /** Evicts a tag's number. */
  forget(tag: string): void {
    this.#forgotten.add(tag)
  }

  /** How often a step was asked for. */
  count(step: Step): number {
    return this.asked[step] ?? 0
  }

  /** The store as one process has it. */
  view(): Store {
    const { memory } = this
    const slowed = Object.fromEntries(steps.map((step) => [step, this.#slow(step)]))
    return {
      ...(slowed as unknown as Pick<Store, Step>),
      shared: true,
      partOf: this.#partOf(),
      peek: () => undefined,
      post: memory.post.bind(memory),
      renew: memory.renew.bind(memory),
      inspect: memory.inspect.bind(memory),
      close: memory.close.bind(memory),
      watch: (listener) => {
        this.#listeners.add(listener)
        const unwatch = memory.watch((notice) => !this.muted && listener(notice))
        queueMicrotask(() => listener({ kind: 'connected' }))
        return () => {
          this.#listeners.delete(listener)
          unwatch()
        }
      },
    }
  }

  #partOf(): Store['partOf'] {
    if (this.nodeOf === undefined && this.receivesNotices === undefined) return undefined
    const nodeOf = this.nodeOf ?? (() => 'only node')
    const partAt = (name: string): StorePart => ({
      name,
      receivesNotices: (key) => this.receivesNotices?.(key) !== false,
      ping: () => {
        this.asked['ping'] = this.count('ping') + 1
        return this.silent.includes(name) ? new Promise(() => {}) : Promise.resolve({ kind: 'done' })
      },
    })
    return (what, key = '') => partAt(what === 'entry' ? nodeOf(key) : TAGS_NODE)
  }

  /** True where one of the nodes that the step needs is silent. */
  #isSilent(step: Step, [first, written]: readonly unknown[]): boolean {
    if (this.nodeOf === undefined) return false
    if (step === 'tagNumbers' || step === 'invalidateTags') return this.silent.includes(TAGS_NODE)
    const needsTags = (step === 'commit' || step === 'put') && (written as NewEntry).tags.length > 0
    return this.silent.includes(this.nodeOf(keyOf(first as string))) || (needsTags && this.silent.includes(TAGS_NODE))
  }

  #real(step: Step): (...args: readonly never[]) => Promise<unknown> {
    const { memory } = this
    switch (step) {
      case 'read':
        return async (key, codec) => {
          const read = await memory.read(key, codec)
          if (read.kind !== 'found') return read
          const entry = { ...makeEntry(read.entry, read.entry, read.entry.from), tagSeq: this.#noted.get(key) ?? 0 }
          return { ...read, entry: this.encodes ? travelled(entry, codec) : entry }
        }
      case 'put':
        return (key, entry, codec) => {
          this.#noted.set(key, this.#sequence)
          return memory.put(key, this.#arrived(entry, codec), codec)
        }
      case 'invalidateTags':
        return (tags: readonly string[], how: 'delete' | 'expire', deleteAfter?: number) => {
          this.#sequence += 1
          for (const tag of tags) this.#numbers.set(tag, this.#next(tag, how, deleteAfter))
          this.tell({ kind: 'tags', tags, tagSeq: this.#sequence, how: deleteAfter === undefined ? how : 'delete' })
          return Promise.resolve({ kind: 'done', tagSeq: this.#sequence })
        }
      case 'tagNumbers':
        return (tags: readonly string[]) =>
          Promise.resolve({
            kind: 'numbers',
            numbers: tags.map((tag) => (this.#forgotten.has(tag) ? undefined : (this.#numbers.get(tag) ?? NEVER))),
          })
      case 'acquire':
        return async (key, request) => {
          const answer = await memory.acquire(key, request)
          return answer.kind === 'lead' ? { ...answer, lease: { ...answer.lease, tagSeq: this.#sequence } } : answer
        }
      case 'commit':
        return (lease, entry, codec) => memory.commit(lease, this.#arrived(entry, codec), codec)
      case 'release':
      case 'invalidate':
      case 'permitRefresh':
      case 'endRefresh':
      case 'clear':
      case 'ping':
        return memory[step].bind(memory)
    }
  }

  /** The entry with what the store keeps of its value. */
  #arrived(entry: NewEntry, codec: Codec): NewEntry {
    return this.encodes ? { ...entry, value: codec.decode(Buffer.from(codec.encode(entry.value))) } : entry
  }

  #next(tag: string, how: 'delete' | 'expire', deleteAfter: number = Infinity): TagNumber {
    if (how === 'delete') return { ...NEVER, invalidated: this.#sequence }
    const { invalidated } = this.#numbers.get(tag) ?? NEVER
    const now = this.runtime.now()
    return { invalidated, expired: this.#sequence, expiredAt: now, goneAt: now + deleteAfter }
  }

  #queueOnConnection(): number {
    const now = this.runtime.now()
    this.#freeAt = Math.max(now, this.#freeAt) + this.perRead
    return this.#freeAt - now
  }

  #slow(step: Step) {
    const real = this.#real(step)
    return async (...args: readonly never[]): Promise<unknown> => {
      this.asked[step] = this.count(step) + 1
      if (this.refuses !== undefined && this.refused.includes(step))
        return { kind: 'away', why: 'error', cause: this.refuses }
      if (this.lost.includes(keyOf(args[0]))) return { kind: 'away', why: 'error', cause: new Error('node down') }
      const delay = (this.delays[step] ?? 0) + (step === 'read' ? this.#queueOnConnection() : 0)
      if (delay === Infinity || this.#isSilent(step, args)) return await new Promise(() => {})
      const answer = await real(...args)
      if (delay > 0) await new Promise<void>((resolve) => void this.runtime.schedule(resolve, delay))
      return answer
    }
  }
}

/** The key of a step, by its first argument: a key or a lease. */
function keyOf(argument: string | { readonly key?: string } | undefined): string {
  return (typeof argument === 'object' ? argument.key : argument) ?? ''
}

/** An entry as it arrives: its bytes are a small part of a reply with the bytes of others, and its value was decoded from them. */
function travelled(entry: Entry, codec: Codec): Entry {
  const bytes = codec.encode(entry.value)
  const reply = Buffer.alloc(bytes.length + 65_536, 'other')
  reply.set(bytes, 100)
  const encoded = reply.subarray(100, 100 + bytes.length)
  return { ...entry, encoded, value: codec.decode(encoded) }
}
