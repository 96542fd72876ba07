import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What an origin answers to one request. */
export interface OriginAnswer {
  /** Default: 200. */
  readonly status?: number | undefined
  readonly body: string
}

export interface CountingOriginOptions {
  /** How long each answer takes, ms. Default: 0. */
  readonly delay?: number | undefined
  /** What the `count`-th request for `path` is answered. Default: `<path> <count>`. */
  readonly answer?: ((path: string, count: number) => OriginAnswer) | undefined
}

/** The expensive thing behind a cache, in one place for many processes: what it counted is what they really asked. */
export interface CountingOrigin {
  readonly url: string
  /** Requests so far. */
  readonly total: number
  /** The most requests that were unanswered at one moment. */
  readonly mostAtOnce: number
  /** Requests for one path so far. */
  countOf(path: string): number
  /** Keeps everybody waiting who asks from here on, for one path or for any, until the returned function lets them go. */
  hold(path?: string): () => void
  /** Resolves when this many requests have arrived; rejects after 20 s. */
  arrived(total: number): Promise<void>
  close(): Promise<void>
}

/** Long for a request to arrive, short for a test to hang. */
const PATIENCE = 20_000
const ANY = '*'

interface Counts {
  readonly byPath: Map<string, number>
  total: number
  open: number
  mostAtOnce: number
}

/** Starts an HTTP server on a free port of this machine. */
export async function startCountingOrigin(options: CountingOriginOptions = {}): Promise<CountingOrigin> {
  const { delay = 0, answer = pathAndCount } = options
  const counts: Counts = { byPath: new Map(), total: 0, open: 0, mostAtOnce: 0 }
  const gates = new Map<string, (() => void)[]>()
  const server = createServer((request, response) => {
    const path = request.url ?? '/'
    const count = note(counts, path, response)
    server.emit('counted')
    const reply = (): void => {
      const { status = 200, body } = answer(path, count)
      response.writeHead(status).end(body)
    }
    const later = (): void => void setTimeout(reply, delay)
    const gate = gates.get(path) ?? gates.get(ANY)
    if (gate === undefined) later()
    else gate.push(later)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get total() {
      return counts.total
    },
    get mostAtOnce() {
      return counts.mostAtOnce
    },
    countOf: (path) => counts.byPath.get(path) ?? 0,
    hold(path = ANY) {
      const waiting: (() => void)[] = []
      gates.set(path, waiting)
      return () => {
        if (gates.get(path) === waiting) gates.delete(path)
        for (const go of waiting.splice(0)) go()
      }
    },
    async arrived(total) {
      const signal = AbortSignal.timeout(PATIENCE)
      while (counts.total < total) await once(server, 'counted', { signal })
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function pathAndCount(path: string, count: number): OriginAnswer {
  return { body: `${path} ${count}` }
}

function note(counts: Counts, path: string, response: ServerResponse): number {
  const count = (counts.byPath.get(path) ?? 0) + 1
  counts.byPath.set(path, count)
  counts.total += 1
  counts.open += 1
  counts.mostAtOnce = Math.max(counts.mostAtOnce, counts.open)
  response.once('close', () => {
    counts.open -= 1
  })
  return count
}
