import { KEYS, type Step, tagOf } from './scenario.ts'

/** A value of a load or a `set`. */
export interface Value {
  readonly id: number
  readonly key: number
  readonly tagged: boolean
}

interface Write {
  readonly replaces: (value: Value) => boolean
  readonly sent: number
  acknowledged: number
}

/** The order of what happened. Moments are numbers of events, so that two at one time are still in order. */
export class History {
  readonly faults: string[] = []
  readonly #writes: Write[] = []
  /** The latest moment at which each value can have been made: the begin of its load, or the answer to its `set`. */
  readonly #made: number[] = []
  #moment = 0

  now(): number {
    return (this.#moment += 1)
  }

  /** Makes the value of a load that begins. */
  loaded(key: number, tagged: boolean): Value {
    return { id: this.#made.push(this.now()) - 1, key, tagged }
  }

  /** Makes the value of a `set`. Returns it with the function that notes the answer. */
  set(key: number, tagged: boolean): { readonly value: Value; readonly acknowledge: () => void } {
    const id = this.#made.push(Infinity) - 1
    return { value: { id, key, tagged }, acknowledge: () => (this.#made[id] = this.now()) }
  }

  /** Notes that a write was sent. Returns the function that notes its answer. */
  write({ verb, key }: Step): () => void {
    const write = { replaces: replacedBy(verb, key), sent: this.now(), acknowledged: Infinity }
    this.#writes.push(write)
    return () => {
      write.acknowledged = this.now()
    }
  }

  /** Notes the value that a call got which was made at `asked`. */
  check(value: unknown, key: number, asked: number): void {
    if (value === undefined) return
    const got = value as Value
    if (got.key !== key) this.faults.push(`k${key} has the value of k${got.key}`)
    const made = this.#made[got.id] ?? Infinity
    for (const { replaces, sent, acknowledged } of this.#writes)
      if (replaces(got) && made < sent && acknowledged < asked)
        this.faults.push(`k${key} has a value that an acknowledged write had replaced`)
  }
}

/** Which values nobody may get after the write. Those that it made stale may still be served. */
function replacedBy(verb: Step['verb'], key: number): Write['replaces'] {
  if (verb === 'clear') return () => true
  if (verb === 'invalidateTags') return (value) => value.tagged && tagOf(value.key) === tagOf(key)
  if (verb === 'deleteMany') return (value) => keysFrom(key).includes(value.key)
  if (verb === 'delete' || verb === 'set' || verb === 'set with a tag') return (value) => value.key === key
  return () => false
}

/** The keys of a verb for many keys. */
export function keysFrom(key: number): readonly number[] {
  return [key, (key + 1) % KEYS, (key + 3) % KEYS]
}
