import type { Open, Setting } from './contender.ts'
import { connected } from './node-redis.ts'

const LIFE = 60_000
/** In the place of a value: somebody loads it. */
const LOADING = 'loading'

interface Flight {
  readonly landing: Promise<unknown>
  readonly land: (text: string) => void
}

/** How the processes of a fleet agree on who loads, and how the others hear of it. */
interface Fleet {
  /** What stands there, or that somebody loads it; undefined: this process is the first. */
  first(key: string): Promise<string | undefined>
  tell(key: string, text: string): Promise<unknown>
  close(): Promise<void>
}

type Join = (setting: Setting, land: (key: string, text: string) => void) => Promise<Fleet>

/**
 * The least that a herd costs where one load serves all processes: callers share a promise, who comes first loads, and everybody is told the
 * value itself by a push. Nobody asks what becomes of a loader that dies, is late, or was overtaken by an invalidation.
 */
export const openTold: Open = (setting) => open(setting, told)

/** The same in the steps of a lease: each process reads, asks for the lease, and reads again when a push wakes it. */
export const openWoken: Open = (setting) => open(setting, woken)

async function open(setting: Setting, join: Join): ReturnType<Open> {
  const flights = new Map<string, Flight>()
  const land = (key: string, text: string): void => {
    flights.get(key)?.land(text)
    flights.delete(key)
  }
  const fleet = setting.redis === undefined ? undefined : await join(setting, land)
  const lead = async (key: string): Promise<void> => {
    const there = await fleet?.first(key)
    if (there === LOADING) return undefined
    const text = there ?? (await load(key, setting))
    if (there === undefined) await fleet?.tell(key, text)
    land(key, text)
  }
  const get = (key: string): Promise<unknown> => {
    const running = flights.get(key)
    if (running !== undefined) return running.landing
    let resolve: (text: string) => void = () => undefined
    const landing = new Promise<string>((settle) => (resolve = settle)).then(outcome)
    flights.set(key, { landing, land: resolve })
    void lead(key)
    return landing
  }
  return { get, close: async () => fleet?.close() }
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

const told: Join = async ({ redis = '', namespace }, land) => {
  const { client, channel, close } = await listen(redis, namespace, (text) => {
    const { key } = JSON.parse(text) as { readonly key: string }
    land(key, text)
  })
  return {
    first: async (key) =>
      (await client.set(`${namespace}:${key}`, LOADING, { condition: 'NX', GET: true, expiration: PX })) ?? undefined,
    tell: (key, text) =>
      client.multi().set(`${namespace}:${key}`, text, { expiration: PX }).publish(channel, text).exec(),
    close,
  }
}

const woken: Join = async ({ redis = '', namespace }, land) => {
  const { client, channel, close } = await listen(redis, namespace, async (key, reader) => {
    const text = await reader.get(`${namespace}:${key}`)
    if (text !== null) land(key, text)
  })
  return {
    async first(key) {
      const there = await client.get(`${namespace}:${key}`)
      if (there !== null) return there
      const leads = await client.set(`${namespace}:${key}:lease`, LOADING, { condition: 'NX', expiration: PX })
      return leads === null ? LOADING : undefined
    },
    tell: (key, text) =>
      client
        .multi()
        .set(`${namespace}:${key}`, text, { expiration: PX })
        .del(`${namespace}:${key}:lease`)
        .publish(channel, key)
        .exec(),
    close,
  }
}

const PX = { type: 'PX', value: LIFE } as const

type Client = Awaited<ReturnType<typeof connected>>

async function listen(redis: string, namespace: string, hear: (message: string, client: Client) => unknown) {
  const [client, ear] = await Promise.all([connected(redis), connected(redis)])
  const channel = `${namespace}:told`
  await ear.subscribe(channel, (message) => void hear(message, client))
  const close = async (): Promise<void> => {
    ear.destroy()
    await client.close()
  }
  return { client, channel, close }
}
