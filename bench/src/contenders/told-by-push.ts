import type { Open, Setting } from './contender.ts'
import { connected } from './node-redis.ts'

const LIFE = 60_000
/** In the place of a value. */
const LOADING = 'loading'

interface Flight {
  readonly landing: Promise<unknown>
  readonly land: (text: string) => void
}

/**
 * The least that a herd costs where one load serves all processes: callers share a promise, who comes first loads, and everybody is told the
 * value itself by a push. Nobody asks what becomes of a loader that dies, is late, or was overtaken by an invalidation.
 */
export const open: Open = async (setting) => {
  const flights = new Map<string, Flight>()
  const shared = setting.redis === undefined ? undefined : await share(setting, flights)
  const get = (key: string): Promise<unknown> => {
    const running = flights.get(key)
    if (running !== undefined) return running.landing
    let land: (text: string) => void = () => undefined
    const landing = new Promise<string>((resolve) => (land = resolve)).then(outcome)
    flights.set(key, { landing, land })
    void lead(key)
    return landing
  }
  const lead = async (key: string): Promise<void> => {
    const there = await shared?.first(key)
    if (there === LOADING) return undefined
    const text = there ?? (await load(key, setting))
    if (there === undefined) await shared?.tell(key, text)
    flights.get(key)?.land(text)
    flights.delete(key)
  }
  return { get, close: async () => shared?.close() }
}

function load(key: string, setting: Setting): Promise<string> {
  return setting.load(key).then(
    (value) => JSON.stringify({ key, value }),
    () => JSON.stringify({ key, failed: true }),
  )
}

function outcome(text: string): unknown {
  const { value, failed } = JSON.parse(text) as { readonly value?: unknown; readonly failed?: boolean }
  if (failed === true) throw new Error('the load failed')
  return value
}

async function share({ redis = '', namespace }: Setting, flights: Map<string, Flight>) {
  const [client, ear] = await Promise.all([connected(redis), connected(redis)])
  const channel = `${namespace}:told`
  await ear.subscribe(channel, (text) => {
    const { key } = JSON.parse(text) as { readonly key: string }
    flights.get(key)?.land(text)
    flights.delete(key)
  })
  return {
    /** What stands there already; undefined: this process is the first. */
    first: async (key: string) =>
      (await client.set(`${namespace}:${key}`, LOADING, {
        condition: 'NX',
        GET: true,
        expiration: { type: 'PX', value: LIFE },
      })) ?? undefined,
    tell: (key: string, text: string) =>
      client
        .multi()
        .set(`${namespace}:${key}`, text, { expiration: { type: 'PX', value: LIFE } })
        .publish(channel, text)
        .exec(),
    close: async () => {
      ear.destroy()
      await client.close()
    },
  }
}
