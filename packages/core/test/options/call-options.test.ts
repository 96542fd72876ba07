import { describe, expect, it } from '@jest/globals'
import { type CallOptions, createCache } from '@cattlegrid/core'
import { createFleet, Origin, rejection } from '../support/fleet.ts'

describe('a call', () => {
  it('with an unknown option rejects and starts no load', async () => {
    const origin = new Origin()
    const call = createFleet().caches[0].getOrSet('k', origin.loader, { tll: '1s' } as CallOptions)
    expect(await rejection(call)).toMatchObject({
      code: 'CATTLEGRID_INVALID_OPTION',
      option: 'getOrSet.tll',
      message: expect.stringContaining("did you mean 'ttl'"),
    })
    expect(origin.count).toBe(0)
  })

  it('without a ttl rejects and starts no load', async () => {
    const origin = new Origin()
    const call = createCache().getOrSet('k', origin.loader)
    expect(await rejection(call)).toMatchObject({ code: 'CATTLEGRID_INVALID_OPTION', option: 'ttl' })
    expect(origin.count).toBe(0)
  })
})
