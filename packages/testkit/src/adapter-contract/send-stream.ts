import type { ServerResponse } from 'node:http'
import { pipeline, type Readable } from 'node:stream'

/**
 * Sends a contract route's stream as applications do: by `pipeline`, or, where trailers follow, by `pipe`.
 *
 * @example
 * import { sendStream } from '@cattlegrid/testkit'
 * import { Readable } from 'node:stream'
 *
 * sendStream(res, Readable.from(['a', 'b']), undefined)
 */
export function sendStream(
  res: ServerResponse,
  body: Readable,
  trailers: Readonly<Record<string, string>> | undefined,
): void {
  if (trailers === undefined) return pipeTo(res, body)
  res.setHeader('trailer', Object.keys(trailers).join(', '))
  body.once('end', () => {
    res.addTrailers(trailers)
    res.end()
  })
  body.pipe(res, { end: false })
}

/** From Node 24 on, `pipeline` refuses a response that has ended, and leaves the stream to its caller. */
function pipeTo(res: ServerResponse, body: Readable): void {
  try {
    pipeline(body, res, () => undefined)
  } catch (error) {
    body.destroy()
    throw error
  }
}
