import { strict as assert } from 'node:assert'
import { isCattlegridError } from '@cattlegrid/core'
import { counted, text } from './contract-route.ts'
import type { Contract } from './contract.ts'
import { onStage } from './stage.ts'

const WRONG: readonly Readonly<Record<string, unknown>>[] = [
  { ttl: 'soon' },
  { ttl: 0 },
  { ttl: Number.NaN },
  { ttl: null },
  { ttl: '10s', staleWhileRevalidate: -1 },
  { ttl: '10s', maxBodyBytes: 'big' },
  { ttl: '10s', cacheStatus: 'not a token' },
  { ttl: '10s', skip: 'no' },
  { ttl: '10s', timeToLive: 1 },
]

/** The adapter rejects wrong options when the route is declared, not when a request arrives. */
export function describeDeclaring({ factory, describe, test }: Contract): void {
  describe('declaring a route', () => {
    for (const cache of WRONG) {
      test(`${JSON.stringify(cache)} is refused by name`, async () => {
        const started = onStage(
          factory,
          [{ path: '/wrong', cache, handle: counted(() => text('')).handle }],
          async () => {},
        )
        await assert.rejects(started, (error) => isCattlegridError(error, 'CATTLEGRID_INVALID_OPTION'))
      })
    }
  })
}
