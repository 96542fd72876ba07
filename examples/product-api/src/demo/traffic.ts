import autocannon from 'autocannon'

export interface TrafficOptions {
  /** The processes; each gets the same number of connections. */
  readonly origins: readonly string[]
  readonly path: string
  readonly connectionsEach: number
  /** The traffic lasts until this settles. */
  readonly until: Promise<unknown>
  /** Called when the traffic has started: from then on `stop` can end it early. */
  readonly onStart: (stop: () => Promise<void>) => void
}

export interface Traffic {
  readonly seconds: number
  readonly requests: number
  /** The responses that no stored entry answered: the client waited for a load. */
  readonly waited: number
  /** Lost connections, time-outs, responses other than 2xx and responses without a ranking. */
  readonly errors: number
  readonly p99: number
  readonly slowest: number
}

// One name for all processes, as behind a load balancer: the host is part of the cache key.
const HOST = 'shop.example'
const REQUEST_TIMEOUT_S = 30
const AT_MOST_S = 600

/** Every connection sends its next request as soon as it has the response to the last one. */
export async function driveTraffic(options: TrafficOptions): Promise<Traffic> {
  const began = performance.now()
  // autocannon's own histogram rounds to milliseconds and covers one target.
  const latencies: number[] = []
  let waited = 0
  const onAnswer = (latency: number): void => void latencies.push(latency)
  const onWait = (): void => void (waited += 1)
  const cannons = options.origins.map((origin) =>
    fire(origin + options.path, options.connectionsEach, { onAnswer, onWait }),
  )
  const stop = (): void => cannons.forEach((cannon) => cannon.stop())
  options.onStart(async () => stop())
  await options.until.finally(stop)
  const seconds = (performance.now() - began) / 1_000
  const results = await Promise.all(cannons.map((cannon) => cannon.result))
  const errors = results.reduce((sum, result) => sum + result.errors + result.non2xx + result.mismatches, 0)
  return { seconds, requests: latencies.length, waited, errors, ...percentiles(latencies) }
}

interface Cannon {
  readonly result: Promise<autocannon.Result>
  stop(): void
}

interface Answers {
  readonly onAnswer: (latency: number) => void
  readonly onWait: () => void
}

function fire(url: string, connections: number, { onAnswer, onWait }: Answers): Cannon {
  const cannon = autocannon(
    {
      url,
      connections,
      headers: { host: HOST },
      duration: AT_MOST_S,
      timeout: REQUEST_TIMEOUT_S,
      sampleInt: 100,
      requests: [{ onResponse: (_status, _body, _context, headers) => void (isHit(headers) || onWait()) }],
      verifyBody: (body) => body !== undefined && body.includes('"place":10'),
    },
    () => {},
  )
  cannon.on('response', (_client, _status, _bytes, latency) => onAnswer(latency))
  const result = new Promise<autocannon.Result>((resolve, reject) => {
    cannon.on('done', resolve)
    cannon.on('error', reject)
  })
  return { result, stop: () => cannon.stop() }
}

/** By `Cache-Status` (RFC 9211): a stale entry is a hit, and a route without a cache has no such field. */
function isHit(headers: Readonly<Record<string, unknown>> | undefined): boolean {
  return String(headers?.['cache-status']).includes('; hit')
}

function percentiles(latencies: readonly number[]): { p99: number; slowest: number } {
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0
  return { p99: at(0.99), slowest: at(1) }
}
