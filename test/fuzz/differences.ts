import { isDeepStrictEqual } from 'node:util'
import { createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import { compared } from '../composition/compared.ts'
import type { Step } from '../composition/script.ts'
import { settling, Visitors } from '../composition/visitors.ts'
import type { WireAnswer } from '../wire.ts'
import { expressApp } from './express-app.ts'
import { fastifyApp } from './fastify-app.ts'
import { LoadsExpected } from './loads.ts'
import type { Stack } from './stack.ts'

/** Plays the stack's requests to its bare app and to its cached one: every difference that is not intended. */
export async function differencesOf(stack: Stack): Promise<readonly string[]> {
  const runtime = createManualRuntime({ seed: 1 })
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  const app = (stack.framework === 'Fastify 5' ? fastifyApp : expressApp)(stack, {
    ...(stack.mode === 'app' ? {} : { ttl: '60s', staleWhileRevalidate: '60s' }),
    invalidateOnUnsafe: true,
    refresh: stack.refresh,
    query: stack.onlyA ? ['a'] : true,
  })
  const probes = [{ runs: 0 }, { runs: 0 }] as const
  const apps = [await app(probes[0], undefined), await app(probes[1], cache)] as const
  const [settled, loads, found] = [settling(cache), new LoadsExpected(stack), new Set<string>()]
  try {
    const [bare, cached] = [new Visitors(apps[0].port), new Visitors(apps[1].port)]
    for (const phase of stack.phases) {
      await runtime.advance(phase.after * 1000)
      const before = probes.map(({ runs }) => runs)
      const [plain, made] = [await bare.play(phase), await cached.play(phase)]
      await settled()
      const [own = 0, ran = 0] = probes.map(({ runs }, index) => runs - (before[index] ?? 0))
      phase.steps.forEach((step, index) => found.add(differenceOf(stack, step, plain[index], made[index])))
      for (const fault of loads.faults(phase, own, ran)) found.add(fault)
    }
    for (const secret of cached.crossed()) found.add(secret)
  } finally {
    await Promise.all(apps.map((one) => one.close()))
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
  return [...found].filter((difference) => difference !== '')
}

/** The difference of a response, or nothing. The list of what is intended for whole responses; `compared` has that of single fields. */
function differenceOf({ handler, inside }: Stack, step: Step, plain?: WireAnswer, made?: WireAnswer): string {
  if (plain === undefined || made === undefined) return 'no response'
  // An aborted response is aborted, or an error, as the moment decides; its followers and a HEAD may get a 503 (HTTP.md 8.4).
  if (handler.style === 'abort' && (!made.whole || made.status >= 400)) return ''
  if (!plain.whole) return `${made.status} for an aborted response`
  // While a failed handler cools down (8.4).
  if (plain.status >= 500 && made.status === 503 && made.headers['retry-after'] !== undefined) return ''
  // Express answers 304 for each status below 300, a stored response for 200 only (9.3).
  if (plain.status === 304 && made.status === handler.status && made.status !== 200) return ''
  // A compression inside streams: the whole response goes to the leader, whatever its condition.
  const streamed = inside.some(({ does }) => does === 'compress')
  if (streamed && plain.status === 304 && made.status === 200) return ''
  // The cache evaluates the conditions of every response, Express those of `send` only (9.3).
  if (step.headers?.['if-none-match'] !== undefined && plain.status === 200 && made.status === 304) return ''
  // Whether the head of an aborted response reached its client is for the moment to decide, and with it the session.
  const differs = handler.style === 'abort' ? { 'set-cookie': 'of a session' } : {}
  const behind = { inside: inside.length > 0, differs }
  const [one, other] = [compared(plain, plain, behind), compared(made, plain, behind)]
  const names = new Set([...Object.keys(one.headers), ...Object.keys(other.headers)])
  const pairs = [
    ['status', other.status, one.status] as const,
    ...[...names].map((name) => [name, other.headers[name], one.headers[name]] as const),
    ['text', other.text, one.text] as const,
    ['whole', other.whole, one.whole] as const,
  ].filter(([, is, was]) => !isDeepStrictEqual(is, was))
  const says = pairs.map(([name, is, was]) => `${name}: ${JSON.stringify(is)} for ${JSON.stringify(was)}`)
  return says.length === 0 ? '' : `${step.method} ${says.join('; ')}`
}
