import { setImmediate } from 'node:timers/promises'

export type Handler = (request: Request) => Response | Promise<Response>

/** A chunk, or where the stream fails. */
type Piece = string | Uint8Array | Error

const toBytes = (piece: string | Uint8Array): unknown => Buffer.from(piece)

/** A stream of all that at once. `as`: what becomes of each chunk. */
export function streamOf(list: readonly Piece[], as: (piece: string) => unknown = toBytes): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of list) {
        if (piece instanceof Error) return controller.error(piece)
        controller.enqueue(as(piece as string) as Uint8Array)
      }
      controller.close()
    },
  })
}

/** A stream that has the next chunk some turns later. */
export function slowly(list: readonly Piece[], as: (piece: string) => unknown = toBytes): ReadableStream<Uint8Array> {
  const left = [...list]
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (let turns = 0; turns < 5; turns += 1) await setImmediate()
      const piece = left.shift()
      if (piece === undefined) controller.close()
      else if (piece instanceof Error) controller.error(piece)
      else controller.enqueue(as(piece as string) as Uint8Array)
    },
  })
}

/** So many bytes, in pieces of 64 KiB. */
export function pieces(size: number): Uint8Array[] {
  const piece = 64 * 1024
  return Array.from({ length: Math.ceil(size / piece) }, (_, index) => {
    return Buffer.alloc(Math.min(piece, size - index * piece), index)
  })
}
