import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ask, type WireAnswer } from '../wire.ts'
import { Fleet } from './fleet.ts'
import { until } from '../support/until.ts'

/** Over all processes: each client has a connection of its own. */
const CONNECTIONS = 500

describe.each(['express', 'fastify'] as const)('four %s processes over one Redis', (framework) => {
  let fleet: Fleet
  let ports: readonly number[]

  beforeAll(async () => {
    fleet = await Fleet.start()
    ports = await Promise.all(fleet.members.map((member) => member.tell<number>({ do: 'listen', framework })))
  }, 60_000)
  afterAll(() => fleet.stop())

  /** 50 clients of every process at once. The host is one for all: what stands behind a load balancer has one name. */
  const crowd = (
    path: string,
    user?: (client: number) => string,
  ): Promise<{ status: number; body: string; cookie: string | null }[]> =>
    Promise.all(
      ports.flatMap((port) =>
        Array.from({ length: 50 }, async (_, client) => {
          const headers = { 'x-forwarded-host': 'shop.test', ...(user === undefined ? {} : { 'x-user': user(client) }) }
          const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
          return { status: response.status, body: await response.text(), cookie: response.headers.get('set-cookie') }
        }),
      ),
    )
  const one = async (path: string): Promise<string> =>
    (await fetch(`http://127.0.0.1:${ports[0]}${path}`, { headers: { 'x-forwarded-host': 'shop.test' } })).text()
  /** The entry that was not there before: its commit goes on behind the answers. */
  const newEntry = async (before: readonly string[]): Promise<string> => {
    let entry: string | undefined
    await until(async () => {
      entry = (await fleet.entryKeys()).find((key) => !before.includes(key))
      return entry !== undefined
    })
    return entry ?? ''
  }
  const bodies = (answers: readonly { body: string }[]): Set<string> => new Set(answers.map(({ body }) => body))

  it('run the handler once for 200 clients of a cold route, and once more when it has expired', async () => {
    const letGo = fleet.origin.hold('/hot')
    const cold = crowd('/value/hot')
    await until(() => fleet.origin.count('/hot') === 1)
    letGo()
    expect(bodies(await cold)).toEqual(new Set(['/hot load 1']))
    expect(fleet.origin.count('/hot')).toBe(1)

    const entry = await newEntry([])
    await fleet.redis.pExpire(entry, 1)
    await until(async () => (await fleet.redis.exists(entry)) === 0)
    expect(bodies(await crowd('/value/hot'))).toEqual(new Set(['/hot load 2']))
    expect(fleet.origin.count('/hot')).toBe(2)
  })

  it('serve the stale response at once at expiry while one of them refreshes behind', async () => {
    const before = await fleet.entryKeys()
    // Not by a crowd: a process that has just read an entry believes its life for a second, and would find it fresh.
    await one('/value/warm')
    await fleet.redis.pExpire(await newEntry(before), 10 * 60_000)
    const letGo = fleet.origin.hold('/warm')
    expect(bodies(await crowd('/value/warm'))).toEqual(new Set(['/warm load 1']))
    await until(() => fleet.origin.count('/warm') === 2)
    letGo()
    await until(async () => (await one('/value/warm')) === '/warm load 2')
    expect(fleet.origin.count('/warm')).toBe(2)
  })

  /** How many requests have reached the processes. */
  const arrived = async (): Promise<number> =>
    (await Promise.all(fleet.members.map((member) => member.tell<number>({ do: 'requests' })))).reduce((a, b) => a + b)
  /** All connections ask, and the handler that one of them leads to waits until every request is in. */
  const rush = async (path: string, loads: number): Promise<readonly WireAnswer[]> => {
    const before = await arrived()
    const letGo = fleet.origin.hold(path)
    const headers = { 'x-forwarded-host': 'shop.test' }
    const answers = Array.from({ length: CONNECTIONS }, (_, client) =>
      ask(ports[client % ports.length] ?? 0, `/value${path}`, { headers }),
    )
    await until(async () => (await arrived()) === before + CONNECTIONS)
    await until(() => fleet.origin.count(path) === loads)
    letGo()
    return await Promise.all(answers)
  }
  const expectAll = (answers: readonly WireAnswer[], body: string): void =>
    expect(new Set(answers.map(({ status, whole, body: bytes }) => `${status} ${whole} ${bytes.toString()}`))).toEqual(
      new Set([`200 true ${body}`]),
    )

  it(`run the handler once for ${CONNECTIONS} connections at once on an expired route, and answer all of them`, async () => {
    const before = await fleet.entryKeys()
    expectAll(await rush('/rush', 1), '/rush load 1')
    const entry = await newEntry(before)
    await fleet.redis.pExpire(entry, 1)
    await until(async () => (await fleet.redis.exists(entry)) === 0)
    expectAll(await rush('/rush', 2), '/rush load 2')
    expect(fleet.origin.count('/rush')).toBe(2)
  })

  it(`run the handler once behind the stale answer that ${CONNECTIONS} connections at once are given`, async () => {
    const before = await fleet.entryKeys()
    await one('/value/stale-rush')
    await fleet.redis.pExpire(await newEntry(before), 10 * 60_000)
    expectAll(await rush('/stale-rush', 2), '/stale-rush load 1')
    await until(async () => (await one('/value/stale-rush')) === '/stale-rush load 2')
    expect(fleet.origin.count('/stale-rush')).toBe(2)
  })

  it('hang nobody on a handler that fails, and give nobody an empty answer', async () => {
    fleet.origin.answer('/down', 503, 'secret')
    const letGo = fleet.origin.hold('/down')
    const answers = crowd('/value/down')
    await until(() => fleet.origin.count('/down') === 1)
    letGo()
    for (const { status, body } of await answers) {
      expect(status).toBeGreaterThanOrEqual(500)
      expect(body).not.toBe('')
    }
  })

  it('give nobody the cookie or the body of another user', async () => {
    const user = (client: number): string => (client % 2 === 0 ? 'ann' : 'bob')
    const answers = await crowd('/cookie/personal', user)
    answers.forEach(({ status, body, cookie }, index) => {
      expect({ status, body }).toEqual({ status: 200, body: `for ${user(index % 50)}` })
      expect(cookie).toContain(`user=${user(index % 50)}`)
    })
  })
})
