import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { Cache } from '@cattlegrid/core'
import { Origin, rejection } from '../support/fleet.ts'
import { never } from '../support/memory-cache.ts'
import { Remote } from '../support/remote.ts'

let remote: Remote
let cache: Cache
let other: Cache

beforeEach(() => {
  remote = new Remote()
  // Notices of changes are still on their way when the next call begins.
  remote.muted = true
  cache = remote.join()
  other = remote.join()
})

describe('a read of a shared store that was sent', () => {
  it('is not joined: another process may have deleted the key since the store answered', async () => {
    await other.set('k', 'old')
    remote.delays.read = 10
    const before = cache.get('k')
    await remote.runtime.advance(1)
    await other.delete('k')
    const after = cache.getOrSet('k', () => 'new')
    await remote.runtime.advance(100)
    expect(await Promise.all([before, after])).toEqual(['old', 'new'])
  })

  it('is not joined by a call that only reads, or reads many keys', async () => {
    await other.set('k', 'old')
    remote.delays.read = 10
    const before = cache.getMany(['k'])
    await remote.runtime.advance(1)
    await other.set('k', 'new')
    const after = [cache.get('k'), cache.getMany(['k']), cache.read('k')] as const
    await remote.runtime.advance(100)
    expect(await before).toEqual(new Map([['k', 'old']]))
    expect(await Promise.all(after)).toMatchObject(['new', new Map([['k', 'new']]), { value: 'new' }])
  })

  it('is shared by a herd that comes at one moment', async () => {
    await other.set('k', 'value')
    const herd = Array.from({ length: 64 }, () => cache.getOrSet('k', never))
    expect(new Set(await Promise.all(herd))).toEqual(new Set(['value']))
    expect(remote.count('read')).toBe(1)
  })

  it('is followed by one read, which all calls share that come meanwhile', async () => {
    await other.set('k', 'value')
    remote.delays.read = 10
    const herd = [cache.getOrSet('k', never)]
    for (let moment = 0; moment < 9; moment += 1) {
      await remote.runtime.advance(1)
      herd.push(cache.getOrSet('k', never), cache.getOrSet('k', never))
    }
    await remote.runtime.advance(100)
    expect(new Set(await Promise.all(herd))).toEqual(new Set(['value']))
    expect(remote.count('read')).toBe(2)
  })

  it('and never answered makes nobody wait longer, and no further read', async () => {
    remote.delays.read = Infinity
    const calls = [cache.getOrSet('k', () => 'loaded')]
    await remote.runtime.advance(100)
    calls.push(cache.getOrSet('k', () => 'loaded'))
    await remote.runtime.advance(200)
    expect(await Promise.all(calls)).toEqual(['loaded', 'loaded'])
    expect(remote.count('read')).toBe(1)
  })

  it('leaves the read behind it the rest of the call’s storeTimeout', async () => {
    remote.delays.read = 200
    const first = cache.get('k')
    await remote.runtime.advance(50)
    const answered = jest.fn()
    const second = cache.get('k').then(answered)
    await remote.runtime.advance(249)
    expect(answered).not.toHaveBeenCalled()
    await remote.runtime.advance(50)
    expect(answered).toHaveBeenCalled()
    await Promise.all([first, second])
  })
})

describe('an answer that a flight got before a call joined it', () => {
  it('does not settle that call when it is an entry', async () => {
    const led = new Origin()
    const leader = other.getOrSet('k', led.loader)
    await remote.runtime.advance(1)
    const follower = cache.getOrSet('k', never)
    await remote.runtime.advance(1)
    led.last.resolve('old')
    await leader
    remote.delays.read = 50
    // The follower looks again, by its timer.
    await remote.runtime.advance(500)
    remote.delays.read = 0
    await other.delete('k')
    const joiner = cache.getOrSet('k', () => 'new')
    await remote.runtime.advance(100)
    expect(await Promise.all([follower, joiner])).toEqual(['old', 'new'])
  })

  it('does not fail that call when it is a cooldown', async () => {
    await rejection(other.getOrSet('k', () => Promise.reject(new Error('failed'))))
    remote.delays.acquire = 50
    const refused = rejection(cache.getOrSet('k', never))
    await remote.runtime.advance(1)
    delete remote.delays.acquire
    await other.delete('k')
    const joiner = cache.getOrSet('k', () => 'new')
    await remote.runtime.advance(100)
    expect(await refused).toMatchObject({ code: 'CATTLEGRID_LOAD_FAILED' })
    expect(await joiner).toBe('new')
  })
})
