import { describe, expect, it } from '@jest/globals'
import { json } from '@cattlegrid/core'
import type { Entry } from '@cattlegrid/core/extend'
import { createManualRuntime } from '@cattlegrid/testkit'
import { makeEntry } from '../../../src/entry.ts'
import { LocalCopies } from '../../../src/store/remote/local-copies.ts'

const runtime = createManualRuntime()

/** An entry of a shared store, as every read makes it anew. */
function read(version: string, value: string, expired = false): Entry {
  const content = {
    value,
    encoded: Buffer.from(json.encode(value)),
    staleWhileRevalidate: 60_000,
    staleIfError: 0,
    tags: ['t'],
  }
  const state = { version, committedAt: 0, freshUntil: 1000, expired, loadTime: 1, tagSeq: 1, size: 10 }
  return makeEntry(content, state, 'store')
}

/** What a hit gets after each of the reads. */
function hitsAfter(...reads: readonly Entry[]): readonly (Entry | undefined)[] {
  const copies = new LocalCopies(runtime, { maxEntries: 10, maxBytes: 1_000_000, maxAge: 5000, freeze: false })
  return reads.map((entry) => {
    copies.keep(copies.begin('k', 0), entry, json, 'near')
    return copies.peek('k', json, 0)
  })
}

describe('a copy', () => {
  it.each([
    ['that is fresh', false],
    ['that its tags expired', true],
  ])('of an entry %s stays when the store returns the entry again', (_, expired) => {
    const [first, second] = hitsAfter(read('1', 'a', expired), read('1', 'a', expired))
    expect(first).toMatchObject({ value: 'a', expired })
    expect(second).toBe(first)
  })

  it('is replaced once the tags of its entry have expired', () => {
    expect(hitsAfter(read('1', 'a'), read('1', 'a', true))[1]).toMatchObject({ expired: true })
  })
})
