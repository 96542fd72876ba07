import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { describe, expect, jest, test } from '@jest/globals'
import type { FastifyInstance } from 'fastify'
import { type CachedApp, counter, rest, withApp } from './support/cached-app.ts'

const stale = { ttl: '10s', staleWhileRevalidate: '1h' } as const

const server = {
  routerOptions: {
    constraints: {
      tenant: {
        name: 'tenant',
        storage() {
          const handlers = new Map<unknown, unknown>()
          return {
            get: (tenant: unknown) => handlers.get(tenant) ?? null,
            set: (tenant: unknown, handler: unknown) => void handlers.set(tenant, handler),
          }
        },
        deriveConstraint: ({ headers }: { readonly headers: Record<string, unknown> }) => headers['x-tenant'],
      },
    },
  },
} as never

/** Two routes of one URL: for the tenant, and for all others. Returns the runs of the other one. */
function routes(app: FastifyInstance, cache: object): { readonly runs: number } {
  const [own, other] = [counter(), counter()]
  app.get('/page', { constraints: { tenant: 'a' }, config: { cache } }, async () => `tenant ${own.next()}`)
  app.get('/page', { config: { cache: stale } }, async () => `all ${other.next()}`)
  return other
}

/** What a client of the tenant gets after each expiry. */
async function askedAfterExpiry({ app, runtime }: CachedApp, times: number): Promise<readonly string[]> {
  const bodies: string[] = []
  for (let turn = 0; turn < times; turn += 1) {
    bodies.push((await app.inject({ url: '/page', headers: { 'x-tenant': 'a' } })).body)
    await rest()
    await runtime.advance(60_000)
  }
  return bodies
}

describe('a route with a constraint of the app’s own', () => {
  test('is refreshed by the next client’s request, and never by a run of the other route', async () => {
    await withApp(
      async (stage) => {
        const other = routes(stage.app, stale)
        const bodies = await askedAfterExpiry(stage, 3)
        expect(bodies).toEqual(['tenant run 1', 'tenant run 2', 'tenant run 3'])
        expect(other.runs).toBe(0)
      },
      { server },
    )
  })

  test('that asks for background refreshes is refreshed inline after two that another route has answered, and one warning says why', async () => {
    const rejections: unknown[] = []
    const note = (rejection: unknown): void => void rejections.push(rejection)
    subscribe('cattlegrid:refresh-rejected', note)
    const warned = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    try {
      await withApp(
        async (stage) => {
          const other = routes(stage.app, { ...stale, refresh: 'behind' })
          const bodies = await askedAfterExpiry(stage, 6)
          expect(bodies).toEqual([1, 1, 1, 2, 3, 4].map((run) => `tenant run ${run}`))
          expect(other.runs).toBe(2)
        },
        { server },
      )
      expect(rejections).toEqual([1, 2].map(() => ({ target: '/page', status: 200, why: 'unreached' })))
      expect(warned.mock.calls).toEqual([
        [
          expect.stringContaining("set refresh: 'inline'"),
          expect.objectContaining({ code: 'CATTLEGRID_REFRESH_REJECTED' }),
        ],
      ])
    } finally {
      warned.mockRestore()
      unsubscribe('cattlegrid:refresh-rejected', note)
    }
  })
})
