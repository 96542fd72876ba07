import { describe, expect, it } from '@jest/globals'
import { type Codec, json, structured } from '@cattlegrid/core'
import { NO_VERSION } from '@cattlegrid/core/extend'
import { Events } from '../../src/events/events.ts'
import { Deferred } from '../../src/flight/deferred.ts'
import { SharedReads } from '../../src/flight/shared-reads.ts'
import type { Read } from '../../src/store/answers.ts'
import { createFleet, type Fleet, settle } from '../support/fleet.ts'

/** Shared reads of a store whose answers the test gives, one by one. */
function openReads(): { readonly reads: SharedReads; readonly sent: Deferred<Read>[] } {
  const sent: Deferred<Read>[] = []
  const { store, runtime } = createFleet()
  store.read = () => {
    const answer = new Deferred<Read>()
    sent.push(answer)
    return answer.promise
  }
  return { reads: new SharedReads({ store, runtime, events: new Events() }), sent }
}

const missing: Read = { kind: 'missing', version: NO_VERSION }

/** Reads so many keys, one after the other. */
async function readEach({ reads, sent }: ReturnType<typeof openReads>, keys: number): Promise<void> {
  for (let key = 0; key < keys; key += 1) {
    const reading = reads.read(String(key), json, (read) => read)
    sent.at(-1)?.resolve(missing)
    await reading
  }
}

/** Holds every read back until the test releases it, and disables hits from memory. */
function slowReads(fleet: Fleet): (() => void)[] {
  const letGo: (() => void)[] = []
  const { read } = fleet.store
  fleet.store.peek = () => undefined
  fleet.store.read = async (...args) => {
    await new Promise<void>((resolve) => letGo.push(resolve))
    return read.apply(fleet.store, args)
  }
  return letGo
}

describe('a running read', () => {
  it('is not joined by a call with another codec', async () => {
    const fleet = createFleet()
    const reads = slowReads(fleet)
    const calls = [fleet.caches[0].get('k', { codec: json }), fleet.caches[0].get('k', { codec: structured })]
    await settle(fleet)
    expect(reads).toHaveLength(2)
    for (const letGo of reads) letGo()
    await Promise.all(calls)
  })

  it('is joined by a call that made the same codec anew', async () => {
    const fleet = createFleet()
    const reads = slowReads(fleet)
    const codec = (): Codec => ({ id: 16, encode: () => new Uint8Array(), decode: () => undefined })
    const calls = [fleet.caches[0].get('k', { codec: codec() }), fleet.caches[0].get('k', { codec: codec() })]
    await settle(fleet)
    expect(reads).toHaveLength(1)
    for (const letGo of reads) letGo()
    await Promise.all(calls)
  })

  it('leaves a later read with another codec joinable when it ends', async () => {
    const fleet = createFleet()
    const [cache] = fleet.caches
    const reads = slowReads(fleet)
    const calls = [cache.get('k', { codec: json }), cache.get('k', { codec: structured })]
    await settle(fleet)
    reads[0]?.()
    await settle(fleet)
    calls.push(cache.get('k', { codec: structured }))
    await settle(fleet)
    expect(reads).toHaveLength(2)
    reads[1]?.()
    await Promise.all(calls)
  })

  it('is not joined after another process has written, and leaves the later read joinable', async () => {
    const fleet = createFleet()
    const [cache, other] = fleet.caches
    const reads = slowReads(fleet)
    const calls = [cache.get('k')]
    await settle(fleet)
    await other.set('k', 'new')
    calls.push(cache.get('k'))
    await settle(fleet)
    expect(reads).toHaveLength(2)
    reads[0]?.()
    await settle(fleet)
    calls.push(cache.get('k'))
    await settle(fleet)
    expect(reads).toHaveLength(2)
    reads[1]?.()
    expect(await Promise.all(calls.slice(1))).toEqual(['new', 'new'])
  })
})

describe('a read of a key', () => {
  it('is sent anew by a call that reads again because of the result of the one before', async () => {
    const { reads, sent } = openReads()
    const again = reads.read('k', json, () => reads.read('k', json, (read) => read.kind))
    sent[0]?.resolve(missing)
    await new Promise(setImmediate)
    expect(sent).toHaveLength(2)
    sent[1]?.resolve(missing)
    expect(await again).toBe('missing')
  })

  it('is joined as long as it runs, however many other keys are read', async () => {
    const open = openReads()
    const slow = open.reads.read('slow', json, () => 'first')
    await readEach(open, 1000)
    const joined = open.reads.read('slow', json, () => 'joined')
    expect(open.sent).toHaveLength(1001)
    open.sent[0]?.resolve(missing)
    expect(await Promise.all([slow, joined])).toEqual(['first', 'joined'])
  })
})
