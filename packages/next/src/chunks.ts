/**
 * Reads a stream to its end. Undefined for one of more than `most` bytes, which is cancelled: its source
 * works no further for it.
 *
 * @throws the error of the stream.
 */
export async function chunksOf(
  stream: ReadableStream<Uint8Array>,
  most: number,
): Promise<readonly Uint8Array[] | undefined> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // A return cancels the stream.
  for await (const chunk of stream) {
    bytes += chunk.byteLength
    if (bytes > most) return undefined
    chunks.push(chunk)
  }
  return chunks
}

/** A stream of the chunks, which stay as they are for the next stream of them. */
export function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
}
