import type { Socket } from 'node:net'

/** The pace at which a pipe forwards bytes. */
export type Pace =
  | { readonly kind: 'through' }
  | { readonly kind: 'held' }
  | { readonly kind: 'latency'; readonly ms: number }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number }

export const THROUGH: Pace = { kind: 'through' }
export const HELD: Pace = { kind: 'held' }

/** Bytes that are queued, or the sender's end after them. */
interface Piece {
  readonly bytes: Buffer | 'end'
  readonly arrivedAt: number
}

/** The most bytes in the queue; while there are more, the pipe does not read from the sender. */
const MOST_UNDER_WAY = 4 * 1024 * 1024
/** The interval at which a slow pipe writes, ms. A shorter one would only cost turns of the event loop. */
const SLICE_TIME = 20

/** One direction of a connection. Bytes keep their order when the pace changes, and the sender's end comes after the last of them. */
export class Pipe {
  readonly #from: Socket
  readonly #to: Socket
  readonly #count: (bytes: number) => void
  #line: Piece[] = []
  #underWay = 0
  #pace: Pace = THROUGH
  #timer: NodeJS.Timeout | undefined
  /** The time at which a slow pipe may write again. */
  #freeAt = 0
  #full = false
  #cut = false

  constructor(from: Socket, to: Socket, count: (bytes: number) => void) {
    this.#from = from
    this.#to = to
    this.#count = count
    from.on('data', (bytes: Buffer) => this.#arrive(bytes))
    from.on('end', () => this.#arrive('end'))
    to.on('drain', () => {
      this.#full = false
      this.#move()
    })
  }

  /** The new pace also holds for bytes in the queue. */
  set pace(pace: Pace) {
    this.#pace = pace
    this.#freeAt = 0
    this.#move()
  }

  /** Drops the bytes in the queue and all that follow. */
  cut(): void {
    this.#cut = true
    this.#line = []
    clearTimeout(this.#timer)
    this.#from.resume()
  }

  #arrive(bytes: Buffer | 'end'): void {
    if (this.#cut) return
    this.#line.push({ bytes, arrivedAt: performance.now() })
    this.#underWay += bytes.length
    this.#move()
  }

  #move(): void {
    if (this.#cut) return
    clearTimeout(this.#timer)
    while (this.#pace.kind !== 'held' && !this.#full && this.#line[0] !== undefined) {
      const wait = this.#dueAt(this.#line[0]) - performance.now()
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#move(), wait)
        break
      }
      this.#write(this.#take(this.#line[0]))
    }
    if (this.#pace.kind === 'held' || this.#underWay > MOST_UNDER_WAY) this.#from.pause()
    else this.#from.resume()
  }

  #dueAt({ arrivedAt }: Piece): number {
    if (this.#pace.kind === 'latency') return arrivedAt + this.#pace.ms
    return this.#pace.kind === 'slow' ? this.#freeAt : 0
  }

  /** Takes the first piece from the queue, or as much of it as a slow pipe may write at once. */
  #take({ bytes, arrivedAt }: Piece): Buffer | 'end' {
    this.#line.shift()
    if (this.#pace.kind !== 'slow' || bytes === 'end') return bytes
    const { bytesPerSecond } = this.#pace
    const slice = bytes.subarray(0, Math.ceil((bytesPerSecond * SLICE_TIME) / 1000))
    if (slice.length < bytes.length) this.#line.unshift({ bytes: bytes.subarray(slice.length), arrivedAt })
    this.#freeAt = performance.now() + (slice.length / bytesPerSecond) * 1000
    return slice
  }

  #write(bytes: Buffer | 'end'): void {
    this.#underWay -= bytes.length
    if (bytes === 'end') {
      this.#to.end()
      return
    }
    this.#full = !this.#to.write(bytes, (error) => {
      // A write to a socket that is still connecting fails if the connect fails.
      if (!error) this.#count(bytes.length)
    })
  }
}
