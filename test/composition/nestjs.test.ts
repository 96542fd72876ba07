import 'reflect-metadata'
import { expressCache, type RouteOptions } from '@cattlegrid/express'
import cattlegrid from '@cattlegrid/fastify'
import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { createManualRuntime } from '@cattlegrid/testkit'
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  type INestApplication,
  type DynamicModule,
  type Type,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { describe, expect, test } from '@jest/globals'
import { ask, textOf } from '../wire.ts'

type Fields = Readonly<Record<string, string | undefined>>
type Verdict = (request: { readonly headers: Fields; readonly user?: unknown }) => boolean

const MEMBER = { 'x-badge': 'of ann' }
const ttl = '1m'

/** A guard that throws 401 where `verdict` returns false. The decorators are called by hand: the tests' transform knows the standard ones only. */
function guardOf(verdict: Verdict): Type<CanActivate> {
  return class Guard implements CanActivate {
    canActivate(context: ExecutionContext): boolean {
      if (verdict(context.switchToHttp().getRequest())) return true
      throw new UnauthorizedException()
    }
  }
}

/** A module with the page for members; `runs` counts the runs of its handler. */
function moduleOf(verdict: Verdict): { readonly module: DynamicModule; readonly probe: { runs: number } } {
  const probe = { runs: 0 }
  class Pages {
    page(): string {
      probe.runs += 1
      return 'members only'
    }
  }
  Get('page')(Pages.prototype, 'page', Object.getOwnPropertyDescriptor(Pages.prototype, 'page') as PropertyDescriptor)
  UseGuards(guardOf(verdict))(Pages)
  Controller()(Pages)
  return { module: { module: Pages, controllers: [Pages] }, probe }
}

/** What stands in front of NestJS. */
interface Front {
  readonly options?: RouteOptions
  /** Answers 401 before the cache is asked, where it returns false. */
  readonly verdict?: Verdict
  /** Sets `user` of the request, as an authentication in front does. */
  readonly user?: boolean
}

async function onExpress(
  module: DynamicModule,
  cache: Cache,
  { options, verdict, user }: Front,
): Promise<INestApplication> {
  const app = await NestFactory.create(module, new ExpressAdapter(), { logger: false })
  app.use((req: { headers: Fields; user?: unknown }, res: { sendStatus(status: number): void }, next: () => void) => {
    if (user === true) req.user = req.headers['x-badge']
    if (verdict?.(req) === false) res.sendStatus(401)
    else next()
  })
  app.use('/page', expressCache(cache)({ ttl, ...options }))
  return app
}

async function onFastify(
  module: DynamicModule,
  cache: Cache,
  { options, verdict, user }: Front,
): Promise<INestApplication> {
  const adapter = new FastifyAdapter()
  const fastify = adapter.getInstance()
  fastify.decorateRequest('user', null)
  fastify.addHook('onRequest', async (request, reply) => {
    const { headers } = request as unknown as { headers: Fields }
    if (user === true) Object.assign(request, { user: headers['x-badge'] })
    if (verdict?.({ headers }) === false) return reply.code(401).send('no')
  })
  fastify.addHook('onRoute', (route) => {
    Object.assign(route, { config: { ...route.config, cache: { ttl, ...options } } })
  })
  await fastify.register(cattlegrid as never, { cache, close: false } as never)
  return await NestFactory.create(module, adapter, { logger: false })
}

/** Sends the visits one after another: the statuses, and how often the handler of the page ran. */
async function visits(
  start: (module: DynamicModule, cache: Cache, front: Front) => Promise<INestApplication>,
  { guard, ...front }: Front & { readonly guard: Verdict },
  fields: readonly Readonly<Record<string, string>>[],
): Promise<readonly [statuses: readonly number[], runs: number]> {
  const runtime = createManualRuntime()
  const cache = createCache({ runtime, store: memoryStore({ runtime }) })
  const { module, probe } = moduleOf(guard)
  const app = await start(module, cache, front)
  try {
    await app.listen(0, '127.0.0.1')
    const port = Number(new URL(await app.getUrl()).port)
    const statuses: number[] = []
    for (const headers of fields) {
      const answer = await ask(port, '/page', { headers })
      statuses.push(answer.status)
      expect(textOf(answer).includes('members only')).toBe(answer.status === 200)
    }
    return [statuses, probe.runs]
  } finally {
    await app.close()
    const closed = cache.close({ drain: 1 })
    await runtime.advance(1000)
    await closed
  }
}

const hasKey: Verdict = ({ headers }) => headers['x-badge'] !== undefined
const GUEST = {}

describe.each([
  ['Express', onExpress],
  ['Fastify', onFastify],
] as const)('NestJS on %s, with the cache as middleware in front of its guards:', (_platform, start) => {
  test('a guard does not run on a hit: a guest gets the page that a member filled', async () => {
    expect(await visits(start, { guard: hasKey }, [MEMBER, GUEST])).toEqual([[200, 200], 1])
  })

  test('a guard runs on a miss: a guest’s 401 is not stored, and the member gets the page', async () => {
    expect(await visits(start, { guard: hasKey }, [GUEST, GUEST, MEMBER])).toEqual([[401, 401, 200], 1])
  })

  test('a verdict in front of the cache counts on a hit, too: a guest gets 401, members share one page', async () => {
    const outcome = await visits(start, { guard: hasKey, verdict: hasKey }, [MEMBER, GUEST, { 'x-badge': 'of bob' }])
    expect(outcome).toEqual([[200, 401, 200], 1])
  })

  test('what the guard looks at in the key: a guest meets the guard, each member has a page', async () => {
    const options = { key: { headers: ['x-badge'] } }
    expect(await visits(start, { guard: hasKey, options }, [MEMBER, GUEST, MEMBER])).toEqual([[200, 401, 200], 1])
  })

  test('a guard that looks at the user of the request: nothing is stored, and a guest meets the guard', async () => {
    const guard: Verdict = ({ user }) => user !== undefined && user !== null
    expect(await visits(start, { guard, user: true }, [MEMBER, GUEST, MEMBER])).toEqual([[200, 401, 200], 2])
  })

  test.each(['authorization', 'cookie', 'x-api-key'])(
    'a guard that looks at the field %s: nothing is stored, and a guest meets the guard',
    async (name) => {
      const guard: Verdict = ({ headers }) => headers[name] !== undefined
      const member = { [name]: 'a=b' }
      expect(await visits(start, { guard }, [member, GUEST, member])).toEqual([[200, 401, 200], 2])
    },
  )
})
