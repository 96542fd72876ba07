import { Agent, get } from 'node:http'
import type { ApiProcess } from './api-process.ts'
import type { StrategyFleet } from './strategy-fleet.ts'

export interface Response {
  readonly latency: number
  /** Undefined for an error, a time-out, and a response without a ranking. */
  readonly revision: number | undefined
  /** By the process that answered: the request waited for a load. */
  readonly waited: boolean
  /** When the request was sent, by `performance.now()`. */
  readonly sentAt: number
  /** Undefined where no process took the request. */
  readonly process: ApiProcess | undefined
}

interface OpenRequest {
  readonly sentAt: number
  readonly process: ApiProcess
}

const EVERY_MS = 1_000
const TIMEOUT_MS = 10_000
/** Requests without a response, for each strategy: one more fails at once, as at a proxy. */
const MOST_OUTSTANDING = 400

/** The clients of one strategy: all of them ask for the ranking once a second, as pages do that poll. */
export class Clients {
  count: number
  /** The requests without a response. */
  readonly open = new Set<OpenRequest>()
  readonly #fleet: StrategyFleet
  readonly #onResponse: (response: Response) => void
  readonly #agent = new Agent({ keepAlive: true })
  #timer: NodeJS.Timeout | undefined

  constructor(fleet: StrategyFleet, count: number, onResponse: (response: Response) => void) {
    this.#fleet = fleet
    this.count = count
    this.#onResponse = onResponse
  }

  start(afterMs: number): void {
    this.#timer = setTimeout(() => {
      this.#askAll()
      this.#timer = setInterval(() => this.#askAll(), EVERY_MS)
    }, afterMs)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#agent.destroy()
  }

  #askAll(): void {
    for (let client = 0; client < this.count; client += 1) {
      const process = this.#fleet.next()
      if (process !== undefined && this.open.size < MOST_OUTSTANDING) this.#ask(process)
      else
        this.#onResponse({
          latency: 0,
          revision: undefined,
          waited: false,
          sentAt: performance.now(),
          process: undefined,
        })
    }
  }

  #ask(process: ApiProcess): void {
    const sentAt = performance.now()
    const asked: OpenRequest = { sentAt, process }
    this.open.add(asked)
    process.outstanding += 1
    const settle = (revision?: number, waited = false): void => {
      if (!this.open.delete(asked)) return
      process.outstanding -= 1
      this.#onResponse({ latency: performance.now() - sentAt, revision, waited, sentAt, process })
    }
    const request = get(`${process.url}/ranking`, { agent: this.#agent }, (response) => {
      let body = ''
      response.setEncoding('utf8')
      response.on('data', (text: string) => (body += text))
      response.on('end', () => {
        if (response.statusCode === 200) settle(revisionIn(body), response.headers['x-waited'] === 'true')
        else settle()
      })
      response.on('error', () => settle())
    })
    const giveUp = setTimeout(() => request.destroy(), TIMEOUT_MS)
    request.on('error', () => settle())
    request.on('close', () => {
      clearTimeout(giveUp)
      settle()
    })
  }
}

function revisionIn(body: string): number | undefined {
  try {
    const { revision } = JSON.parse(body) as { revision?: unknown }
    return typeof revision === 'number' ? revision : undefined
  } catch {
    return undefined
  }
}
