import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A source of values that counts who asks: the only witness of how many loads there were. */
export interface Origin {
  readonly url: string
  /** How many requests have come for a path. */
  count(path: string): number
  /** Holds the answers for a path back until the returned function lets them go. */
  hold(path: string): () => void
  /** What a path answers from here on. Default: 200 and its own name and count. */
  answer(path: string, status: number, body: string): void
  close(): Promise<void>
}

interface Source {
  requests: number
  status: number
  body: string | undefined
  held: (() => void)[] | undefined
}

export async function startOrigin(): Promise<Origin> {
  const sources = new Map<string, Source>()
  const source = (path: string): Source => {
    const known = sources.get(path) ?? { requests: 0, status: 200, body: undefined, held: undefined }
    sources.set(path, known)
    return known
  }
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const { requests, status, body, held } = count(source(path))
    const answer = (): ServerResponse => response.writeHead(status).end(body ?? `${path} load ${requests}`)
    if (held === undefined) answer()
    else held.push(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: (path) => source(path).requests,
    hold(path) {
      const held: (() => void)[] = []
      source(path).held = held
      return () => {
        source(path).held = undefined
        for (const answer of held) answer()
      }
    },
    answer: (path, status, body) => void Object.assign(source(path), { status, body }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function count(source: Source): Source {
  source.requests += 1
  return source
}
