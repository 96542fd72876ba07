import type { Socket } from 'node:net'

/** How bytes go through a pipe. */
export type Pace =
  | { readonly kind: 'through' }
  | { readonly kind: 'held' }
  | { readonly kind: 'latency'; readonly ms: number }
  | { readonly kind: 'slow'; readonly bytesPerSecond: number }

export const THROUGH: Pace = { kind: 'through' }
export const HELD: Pace = { kind: 'held' }

/** Bytes on their way, or the sender's end behind them. */
interface Piece {
  readonly bytes: Buffer | 'end'
  readonly arrivedAt: number
}

/** What may be on its way; the sender is not read while more is. */
const MOST_UNDER_WAY = 4 * 1024 * 1024
/** A slow pipe writes so often, ms: less at a time would only cost turns of the event loop. */
const SLICE_TIME = 20

/** One direction of a connection. Bytes keep their order whatever becomes of the pace, and the sender's end stays behind the last of them. */
export class Pipe {
  readonly #from: Socket
  readonly #to: Socket
  readonly #count: (bytes: number) => void
  #line: Piece[] = []
  #underWay = 0
  #pace: Pace = THROUGH
  #timer: NodeJS.Timeout | undefined
  /** When a slow pipe may write again. */
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

  /** Also what is under way already goes on at the new pace. */
  set pace(pace: Pace) {
    this.#pace = pace
    this.#freeAt = 0
    this.#move()
  }

  /** Whatever is under way or still comes is lost. */
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

  /** Takes the first piece out of the line, or as much of it as a slow pipe lets through at once. */
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
      // A server that is not there yet may turn out not to be there at all.
      if (!error) this.#count(bytes.length)
    })
  }
}
