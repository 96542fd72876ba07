import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ownListener } from '../../src/node/capture/close-listeners.ts'
import { type Capture, captureResponse } from '../../src/node/capture/capture.ts'
import { Recorder } from '../../src/recorder/recorder.ts'
import type { RecordingResult } from '../../src/recorder/recording-result.ts'
import type { ResponseHead } from '../../src/response/response-head.ts'
import { judge } from '../../src/response/storable.ts'

/** What came of one request: on the wire, and in the recording. */
export interface Outcome {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
  readonly recorded: RecordingResult
  readonly heads: readonly ResponseHead[]
}

export type Handler = (res: ServerResponse, req: IncomingMessage, capture: Capture) => unknown

export interface Setting {
  /** What layers outside ours do first. */
  readonly outside?: (res: ServerResponse) => void
  readonly holdsStale?: boolean
  readonly maxBodyBytes?: number
  /** The client leaves at once; the handler runs when that is noticed. */
  readonly leaves?: boolean
  readonly onceBegun?: (recorder: Recorder) => void
  /** What the adapter would do once the recording has settled. */
  readonly onceRecorded?: (capture: Capture, recorder: Recorder) => void
}

/** Runs a handler on a real response while it is recorded, and asks it over a real socket. */
export async function record(handler: Handler, setting: Setting = {}): Promise<Outcome> {
  const { outside, holdsStale = false, maxBodyBytes = 1000, leaves = false, onceBegun, onceRecorded } = setting
  const leaving = new AbortController()
  const heads: ResponseHead[] = []
  const windows = { ttl: 1000, negativeTtl: 0, staleWhileRevalidate: 0, staleIfError: 0 }
  const open = { storedBefore: false, unkeyedCredentials: false, targets: [], stripSetCookie: false, varyOn: [] }
  const policy = { ...windows, ...open, maxBodyBytes }
  const recorder = new Recorder({
    holdsStale,
    maxBodyBytes,
    maxCaptureBytes: Infinity,
    strip: [],
    timeOfDay: () => Date.UTC(2030, 0, 15),
    extraFields: () => ({}),
    judge: (head) => {
      heads.push(head)
      return judge(head, policy, Date.UTC(2030, 0, 15))
    },
  })
  const server = createServer((req, res) => {
    outside?.(res)
    const capture = captureResponse(req, res, recorder)
    onceBegun?.(recorder)
    // As the road does, once the load is over without the recording.
    res.once('finish', () => setImmediate(() => recorder.abort('failure')))
    void recorder.done.then(() => onceRecorded?.(capture, recorder))
    const run = (): void => capture.run(() => handler(res, req, capture))
    if (!leaves) return run()
    // As if the handler itself had not heard of it.
    res.once('close', ownListener(run))
    return leaving.abort()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const wire = await get((server.address() as AddressInfo).port, leaving.signal)
    return { ...wire, recorded: await recorder.done, heads }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

type Wire = Pick<Outcome, 'status' | 'headers' | 'body'>

function get(port: number, signal: AbortSignal): Promise<Wire> {
  return new Promise((resolve) => {
    const broken = { status: 0, headers: {}, body: 'broken off' }
    request({ host: '127.0.0.1', port, agent: false, signal }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk))
      res.once('error', () => resolve(broken))
      res.once('end', () => {
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks).toString() })
      })
    })
      .once('error', () => resolve(broken))
      .end()
  })
}
