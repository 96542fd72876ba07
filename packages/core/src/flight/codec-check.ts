import type { Codec } from '../codec/codec.ts'
import { LossyCodecError } from '../errors.ts'
import type { Events } from '../events/events.ts'

/**
 * Compares the values of one cache with what their codecs keep, whatever the store is: tests with the memory
 * store find what a shared one would change.
 */
export class CodecCheck {
  readonly #strict: boolean
  readonly #events: Events
  #warned = false

  constructor(strict: boolean, events: Events) {
    this.#strict = strict
    this.#events = events
  }

  /**
   * Warns, once per cache, of a value that is about to be stored and that its codec would change.
   *
   * @throws LossyCodecError instead, with `strictCodec`.
   */
  check(key: string, value: unknown, codec: Codec): void {
    if (this.#warned) return
    const loss = lossOf(value, codec)
    if (loss === undefined) return
    const error = new LossyCodecError(key, codec.id, loss)
    if (this.#strict) throw error
    this.#warned = true
    this.#events.warn(error.message, error.code)
  }
}

/** A value that cannot be looked at, such as one with a getter that throws, is left to its encoding. */
function lossOf(value: unknown, codec: Codec): string | undefined {
  try {
    return codec.lossOf?.(value)
  } catch {
    return undefined
  }
}
