import { beforeEach, describe, expect, it } from '@jest/globals'
import { type Cache, type CacheOptions, type Codec, json, raw, structured } from '@cattlegrid/core'
import { Origin } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

interface User {
  readonly roles: string[]
}
const user = (): User => ({ roles: ['reader'] })
const reader = ['reader']

let remote: Remote

beforeEach(async () => {
  remote = new Remote()
  remote.encodes = true
  await remote.join().set('k', user())
})

const join = (options: CacheOptions = {}): Cache => remote.join({ outage: false, ...options })

/** A cache that hears of changes: only then does it keep near copies. */
async function connected(options: CacheOptions): Promise<Cache> {
  const cache = join(options)
  await remote.runtime.advance(0)
  return cache
}

/** Three calls that join one read. */
async function joined(cache: Cache, options = {}): Promise<User[]> {
  const asked = remote.count('read')
  const users = await Promise.all([1, 2, 3].map(() => cache.getOrSet<User>('k', never, options)))
  expect(remote.count('read')).toBe(asked + 1)
  return users
}

describe('calls that join one read of a shared store', () => {
  it('get a value each', async () => {
    const [first, ...others] = await joined(join())
    first?.roles.push('admin')
    expect(others.map(({ roles }) => roles)).toEqual([reader, reader])
    others[0]?.roles.push('editor')
    expect(others[1]?.roles).toEqual(reader)
  })

  it('get a value each, although each makes its codec anew', async () => {
    const codec = (): Codec => ({
      id: 16,
      encode: (value) => json.encode(value),
      decode: (bytes: Buffer) => json.decode(bytes),
    })
    const cache = join()
    const calls = [1, 2].map(() => cache.getOrSet<User>('k', never, { codec: codec() as Codec<User> }))
    const [first, second] = await Promise.all(calls)
    expect(remote.count('read')).toBe(1)
    first?.roles.push('admin')
    expect(second?.roles).toEqual(reader)
  })

  it('get a value each from get, read and getMany, too', async () => {
    const cache = join()
    const [one, two, many] = await Promise.all([
      cache.get<User>('k'),
      cache.read<User>('k'),
      cache.getMany<User>(['k']),
    ])
    expect(remote.count('read')).toBe(1)
    one?.roles.push('admin')
    two?.value.roles.push('editor')
    expect([one?.roles, two?.value.roles, many.get('k')?.roles]).toEqual([
      ['reader', 'admin'],
      ['reader', 'editor'],
      reader,
    ])
  })

  it('get one frozen value with freeze: true, also without any copies', async () => {
    const [first, second] = await joined(join({ freeze: true }))
    expect(() => first?.roles.push('admin')).toThrow(TypeError)
    expect(second).toBe(first)
  })

  it('share one value of a codec that calls it immutable', async () => {
    const codec: Codec = { id: 17, immutable: true, encode: (value) => json.encode(value), decode: () => ({}) }
    const [first, second] = await joined(join(), { codec })
    expect(second).toBe(first)
  })

  it('get bytes each, whose buffer holds nothing of others', async () => {
    await remote.join().set<Uint8Array>('k', Buffer.from('grid'), { codec: raw })
    const cache = join()
    const calls = [1, 2].map(() => cache.getOrSet<Uint8Array>('k', never, { codec: raw }))
    const [first, second] = await Promise.all(calls)
    expect([first?.buffer.byteLength, second?.buffer.byteLength]).toEqual([4, 4])
    first?.fill(0)
    expect(String(second)).toBe('grid')
  })

  it('get the bytes inside a structured value each, without those of others', async () => {
    await remote.join().set('k', { bytes: Buffer.from('grid') }, { codec: structured })
    const { bytes } = await join().getOrSet<{ bytes: Buffer }>('k', never, { codec: structured })
    expect(Buffer.from(bytes.buffer).includes('other')).toBe(false)
  })
})

describe('callers that wait for the leader of another process', () => {
  it('get a value each of what it committed', async () => {
    const [here, there] = [join(), join()]
    await there.delete('k')
    const origin = new Origin()
    const leading = there.getOrSet('k', origin.loader)
    await remote.runtime.advance(0)
    const calls = [1, 2, 3].map(() => here.getOrSet<User>('k', never))
    await remote.runtime.advance(0)
    origin.last.resolve(user())
    await remote.runtime.advance(1000)
    await leading
    const [first, second, third] = await Promise.all(calls)
    first?.roles.push('admin')
    second?.roles.push('editor')
    expect([second?.roles, third?.roles]).toEqual([['reader', 'editor'], reader])
  })
})

describe('a stale value', () => {
  it('is not the one that its background load gets as load.stale', async () => {
    const cache = join({ staleWhileRevalidate: '1m' })
    await cache.set('k', user(), { ttl: 1000 })
    await remote.runtime.advance(1001)
    let stale: User | undefined
    const served = await cache.lookup<User>('k', (load) => {
      stale = load.stale?.value
      return user()
    })
    served.value.roles.push('admin')
    await served.refresh
    expect(stale?.roles).toEqual(reader)
  })
})

describe('a near copy', () => {
  it('is not the value of the caller whose read made it', async () => {
    const cache = await connected({ near: {} })
    const read = await cache.getOrSet<User>('k', never)
    read.roles.push('admin')
    const near = await cache.lookup<User>('k', never)
    expect([near.from, near.value.roles]).toEqual(['near', reader])
  })

  it('is one object for all hits, which freeze makes read-only', async () => {
    const cache = await connected({ near: {}, freeze: true })
    await cache.get('k')
    const [first, second] = [await cache.get<User>('k'), await cache.get<User>('k')]
    expect(second).toBe(first)
    expect(() => first?.roles.push('admin')).toThrow(TypeError)
  })

  it('counts as missing when its codec decodes the bytes once and not again', async () => {
    let decoded = 0
    const codec: Codec = {
      id: 18,
      encode: (value) => json.encode(value),
      decode: (bytes) => {
        decoded += 1
        if (decoded === 2) throw new Error('not again')
        return json.decode(bytes)
      },
    }
    const cache = await connected({ near: {}, codec })
    await cache.get('k')
    expect(await cache.lookup<User>('k', never)).toMatchObject({ from: 'store', value: user() })
  })

  it('keeps its own bytes alone, not the reply that they arrived in', async () => {
    const long = 'x'.repeat(2000)
    const kept: ArrayBufferLike[] = []
    const codec: Codec = {
      id: 19,
      encode: (value) => json.encode(value),
      decode: (bytes) => {
        kept.push(bytes.buffer)
        return json.decode(bytes)
      },
    }
    const cache = await connected({ near: {}, codec })
    await cache.set('long', long)
    await cache.get('long')
    expect(await cache.lookup('long', never)).toMatchObject({ from: 'near', value: long })
    expect(kept.at(-1)?.byteLength).toBe(json.encode(long).length)
  })

  it.each([
    ['any byte', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
    ['no byte', Buffer.alloc(0)],
    ['more bytes than a text keeps', Buffer.alloc(1025, 0xff)],
  ])('decodes what it was given: %s', async (_, bytes) => {
    const cache = await connected({ near: {}, codec: raw })
    await cache.set('bytes', bytes)
    await cache.get('bytes')
    expect(await cache.lookup('bytes', never)).toMatchObject({ from: 'near', value: bytes })
  })
})

describe('an outage copy', () => {
  const gone = new Error('connection refused')

  it('is not the value of the caller whose read made it, and each hit gets its own', async () => {
    const cache = join({ outage: {} })
    const read = await cache.getOrSet<User>('k', never)
    read.roles.push('admin')
    remote.refuses = gone
    const [first, second] = [await cache.lookup<User>('k', never), await cache.lookup<User>('k', never)]
    expect([first.from, first.value.roles]).toEqual(['outage', reader])
    first.value.roles.push('editor')
    expect(second.value.roles).toEqual(reader)
  })

  it('is not the object that a loader returned during the outage', async () => {
    const cache = join({ outage: {} })
    remote.refuses = gone
    const loaded = await cache.getOrSet<User>('cold', user)
    await remote.runtime.advance(0)
    loaded.roles.push('admin')
    expect(await cache.lookup<User>('cold', never)).toMatchObject({ from: 'outage', value: user() })
  })

  it('has bytes of its own, although the raw codec encodes to those of the loader', async () => {
    const cache = join({ outage: {}, codec: raw })
    remote.refuses = gone
    const loaded = await cache.getOrSet('cold', () => new Uint8Array([1, 2]))
    await remote.runtime.advance(0)
    loaded.fill(0)
    expect([...(await cache.getOrSet<Uint8Array>('cold', never))]).toEqual([1, 2])
  })
})

it('a call that waits for the load of another process gets what its own codec reads, whatever codec the waiting calls before it have', async () => {
  const [leader, follower] = [join(), join()]
  await leader.delete('k')
  const origin = new Origin()
  void leader.getOrSet('k', origin.loader)
  await remote.runtime.advance(0)
  const calls = [structured, structured, json].map((codec) => follower.getOrSet<User>('k', never, { codec }))
  await remote.runtime.advance(0)
  origin.last.resolve(user())
  await remote.runtime.advance(1000)
  expect(await Promise.all(calls)).toEqual([user(), user(), user()])
})

describe('a value that is written in a burst', () => {
  const keys = Array.from({ length: 200 }, (_, index) => `k${index}`)

  it.each([json, raw])(
    'is stored as it was when it was set, although it is changed before its turn ($id)',
    async (codec) => {
      const cache = join({ codec })
      const value = codec === raw ? new Uint8Array([1]) : [1]
      for (const key of keys) void cache.set(key, value)
      value[0] = 2
      await remote.runtime.advance(1000)
      const read = await Promise.all(keys.map((key) => cache.get<typeof value>(key)))
      expect(read.filter((found) => found?.[0] !== 1)).toEqual([])
    },
  )

  it('is stored as it was loaded, although callers change it before its turn', async () => {
    const cache = join({ maxLoads: false })
    remote.delays.commit = 10
    const change = async (key: string): Promise<void> =>
      void (await cache.getOrSet<User>(key, user)).roles.push('admin')
    await Promise.all(keys.map(change))
    await remote.runtime.advance(1000)
    const read = await Promise.all(keys.map((key) => join().get<User>(key)))
    expect(read.filter((found) => found?.roles.length !== 1)).toEqual([])
  })
})
