import { afterEach, describe, expect, test } from '@jest/globals'
import { type CountingOrigin, startCountingOrigin } from '@cattlegrid/testkit'

const started: CountingOrigin[] = []

async function start(...args: Parameters<typeof startCountingOrigin>): Promise<CountingOrigin> {
  const origin = await startCountingOrigin(...args)
  started.push(origin)
  return origin
}

const get = async (url: string): Promise<string> => (await fetch(url)).text()

afterEach(async () => {
  await Promise.all(started.splice(0).map((origin) => origin.close()))
})

describe('counting origin', () => {
  test('counts requests, in all and by path, and answers with the count', async () => {
    const origin = await start()
    expect(await get(`${origin.url}/a`)).toBe('/a 1')
    expect(await get(`${origin.url}/b`)).toBe('/b 1')
    expect(await get(`${origin.url}/a`)).toBe('/a 2')
    expect([origin.total, origin.countOf('/a'), origin.countOf('/b'), origin.countOf('/c')]).toEqual([3, 2, 1, 0])
  })

  test('notes how many requests were open at once', async () => {
    const origin = await start()
    await get(origin.url)
    await get(origin.url)
    expect(origin.mostAtOnce).toBe(1)
    const letGo = origin.hold()
    const asked = [get(origin.url), get(origin.url), get(origin.url)]
    await origin.arrived(5)
    expect(origin.mostAtOnce).toBe(3)
    letGo()
    expect(await Promise.all(asked)).toHaveLength(3)
  })

  test('keeps everybody waiting while it is held, and nobody after', async () => {
    const origin = await start()
    const letGo = origin.hold('/a')
    let answered = false
    const asked = get(`${origin.url}/a`).then(() => {
      answered = true
    })
    await origin.arrived(1)
    expect(await get(`${origin.url}/b`)).toBe('/b 1')
    expect(answered).toBe(false)
    letGo()
    await asked
    expect(await get(`${origin.url}/a`)).toBe('/a 2')
  })

  test('answers what it is told to', async () => {
    const origin = await start({ answer: (_, count) => ({ status: count === 1 ? 503 : 200, body: 'x' }) })
    expect([(await fetch(origin.url)).status, (await fetch(origin.url)).status]).toEqual([503, 200])
  })

  test('closes although somebody still waits', async () => {
    const origin = await startCountingOrigin()
    origin.hold()
    const asked = get(origin.url).catch(() => 'cut off')
    await origin.arrived(1)
    await origin.close()
    expect(await asked).toBe('cut off')
  })
})
