import type { Codec } from '../../codec/codec.ts'
import { answerIn, awayBecause, type Read } from '../answers.ts'
import type { ReadTerms, Store } from '../store.ts'

/** Receives the answer of a read: called once, and never throws. */
export type OnRead = (read: Read) => void

/**
 * A store that hands the answer of a read to a function. Each decorator looks at every answer; a promise for
 * each of them would cost a hit more than all that they do.
 */
export interface CallbackStore extends Store {
  /** As `read`. Never throws: a problem is an answer. */
  readWithCallback(key: string, codec: Codec, onRead: OnRead, terms?: ReadTerms): void
}

/** Reads from a store that returns promises. */
export function readFrom(store: Store, key: string, codec: Codec, onRead: OnRead): void {
  const failed = (cause: unknown): void => onRead(awayBecause(cause))
  try {
    store.read(key, codec).then((read) => onRead(answerIn(read)), failed)
  } catch (cause) {
    failed(cause)
  }
}

/**
 * A step on the way to `onRead`, which the step calls. An error of the step becomes the answer: nothing else
 * would report it.
 */
export function catching(onRead: OnRead, step: OnRead): OnRead {
  return (read) => {
    try {
      step(read)
    } catch (cause) {
      onRead(awayBecause(cause))
    }
  }
}
