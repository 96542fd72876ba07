import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { delayEnd } from '../../src/node/delayed-end.ts'

export interface Answered {
  readonly status: number
  readonly headers: Record<string, unknown>
  /** undefined: the connection broke. */
  readonly body: string | undefined
}

export interface Play {
  /** Before the end is delayed. */
  readonly outside?: (res: ServerResponse) => void
  /** What is thrown here is answered by a 500, as a framework would. */
  readonly handle: (res: ServerResponse) => void
  /** While the end waits. */
  readonly meanwhile?: () => void
}

/** One POST to a handler whose end waits for a turn of the event loop, and how often that was asked for. */
export async function post(
  { outside, handle, meanwhile }: Play,
  delay = delayEnd,
): Promise<Answered & { readonly acted: number }> {
  let acted = 0
  const act = async (): Promise<void> => {
    acted += 1
    await new Promise(setImmediate)
    meanwhile?.()
  }
  const server = createServer((_req, res) => {
    outside?.(res)
    delay(res, act)
    try {
      handle(res)
    } catch {
      if (res.headersSent) res.destroy()
      else Object.assign(res, { statusCode: 500, statusMessage: '' }).end('an error')
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    return { ...(await ask((server.address() as AddressInfo).port)), acted }
  } finally {
    server.close()
    server.closeAllConnections()
  }
}

function ask(port: number): Promise<Answered> {
  return new Promise((resolve) => {
    const broken = (): void => resolve({ status: 0, headers: {}, body: undefined })
    request({ host: '127.0.0.1', port, method: 'POST', agent: false }, (res) => {
      const chunks: Buffer[] = []
      res.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', broken)
      res.once('end', () =>
        resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(chunks).toString() }),
      )
    })
      .once('error', broken)
      .end()
  })
}
