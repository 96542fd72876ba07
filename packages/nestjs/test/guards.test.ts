import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  type CanActivate,
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  type INestApplication,
  Req,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common'
import { APP_GUARD } from '@nestjs/core'
import { expect, test } from '@jest/globals'
import { Cached } from '../src/index.ts'
import { describeOnBoth, type Site, type SiteOptions, startSite } from './support/site.ts'

interface Member {
  user?: unknown
  readonly headers: Readonly<Record<string, string | undefined>>
}

const ANN = { 'x-api-key': 'ann' }
const BOB = { 'x-api-key': 'bob' }
const GUEST = {}

class MemberGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Member>()
    request.user = request.headers['x-api-key']
    if (request.user === undefined) throw new UnauthorizedException()
    return true
  }
}

const User = createParamDecorator(
  (_: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<Member>().user,
)

const ttl = '10s'
const staleWhileRevalidate = '1h'

@Controller()
class Pages {
  runs = 0

  @Get('members')
  @UseGuards(MemberGuard)
  @Cached({ ttl, staleWhileRevalidate })
  members(): object {
    return { run: (this.runs += 1) }
  }

  @Get('behind')
  @UseGuards(MemberGuard)
  @Cached({ ttl, staleWhileRevalidate, refresh: 'behind' })
  behind(): object {
    return { run: (this.runs += 1) }
  }

  @Get('open')
  @Cached({ ttl, staleWhileRevalidate })
  open(): object {
    return { run: (this.runs += 1) }
  }

  @Get('me')
  @UseGuards(MemberGuard)
  @Cached({ ttl })
  me(@Req() { user }: Member): object {
    return { me: user }
  }

  @Get('profile')
  @UseGuards(MemberGuard)
  @Cached({ ttl })
  profile(@User() user: unknown): object {
    return { profile: user }
  }

  @Get('mine')
  @UseGuards(MemberGuard)
  @Cached({ ttl, key: { headers: ['x-api-key'] }, allowReads: ['user'] })
  mine(@User() user: unknown): object {
    return { mine: user, run: (this.runs += 1) }
  }
}

describeOnBoth('guards', (platform) => {
  async function onSite(body: (site: Site) => Promise<void>, options: SiteOptions = {}): Promise<void> {
    const site = await startSite(platform, { controllers: [Pages], ...options })
    try {
      await body(site)
    } finally {
      await site.close()
    }
  }

  test('a guard answers 401 while an entry is fresh, and members share that entry', async () => {
    await onSite(async ({ get }) => {
      expect(await get('/members', ANN)).toMatchObject({
        status: 200,
        text: '{"run":1}',
        cache: 'fwd=uri-miss; stored; ttl=10',
      })
      expect(await get('/members', GUEST)).toMatchObject({ status: 401, cache: 'undefined' })
      expect(await get('/members', BOB)).toMatchObject({ status: 200, text: '{"run":1}', cache: 'hit; ttl=10' })
    })
  })

  test.each<[string, (app: INestApplication) => unknown, SiteOptions['providers']]>([
    ['of the whole app', (app) => app.useGlobalGuards(new MemberGuard()), []],
    ['of a module', () => undefined, [{ provide: APP_GUARD, useClass: MemberGuard }]],
  ])('a guard %s answers 401 while an entry is fresh', async (_, setUp, providers) => {
    const body = async ({ get }: Site): Promise<void> => {
      expect(await get('/open', ANN)).toMatchObject({ status: 200 })
      expect(await get('/open', GUEST)).toMatchObject({ status: 401 })
      expect(await get('/open', BOB)).toMatchObject({ cache: 'hit; ttl=10' })
    }
    await onSite(body, { setUp, providers })
  })

  test('the 401 of a guard is not stored', async () => {
    await onSite(async ({ get }) => {
      for (const fields of [GUEST, GUEST]) expect(await get('/members', fields)).toMatchObject({ status: 401 })
      expect(await get('/members', ANN)).toMatchObject({ status: 200, text: '{"run":1}' })
    })
  })

  test.each(['me', 'profile'])('two users never share a response whose handler reads the user: /%s', async (path) => {
    await onSite(async ({ get }) => {
      for (const [fields, name] of [
        [ANN, 'ann'],
        [BOB, 'bob'],
      ] as const)
        expect(await get(`/${path}`, fields)).toMatchObject({
          text: JSON.stringify({ [path]: name }),
          cache: 'fwd=uri-miss; detail=personal',
        })
    })
  })

  test('with what names the user in the key, each user has an entry', async () => {
    await onSite(async ({ get }) => {
      expect(await get('/mine', ANN)).toMatchObject({ text: '{"mine":"ann","run":1}' })
      expect(await get('/mine', BOB)).toMatchObject({ text: '{"mine":"bob","run":2}' })
      expect(await get('/mine', ANN)).toMatchObject({ text: '{"mine":"ann","run":1}', cache: 'hit; ttl=10' })
      expect(await get('/mine', GUEST)).toMatchObject({ status: 401 })
    })
  })

  test('a request with credentials bypasses the cache', async () => {
    await onSite(async ({ get }) => {
      await get('/open')
      expect(await get('/open', { authorization: 'Bearer x' })).toMatchObject({
        text: '{"run":2}',
        cache: 'fwd=bypass; detail=authorization',
      })
    })
  })

  test('behind a guard, a stale response is refreshed by the next member’s own request', async () => {
    await onSite(async ({ get, runtime }) => {
      await get('/members', ANN)
      await runtime.advance(11_000)
      expect(await get('/members', GUEST)).toMatchObject({ status: 401 })
      expect(await get('/members', BOB)).toMatchObject({ text: '{"run":2}', cache: 'fwd=stale; stored; ttl=10' })
      expect(await get('/members', ANN)).toMatchObject({ text: '{"run":2}', cache: 'hit; ttl=10' })
    })
  })

  test('a refresh that a guard rejects keeps the stale response, and is reported', async () => {
    const rejections: unknown[] = []
    const note = (message: unknown): void => void rejections.push(message)
    subscribe('cattlegrid:refresh-rejected', note)
    try {
      await onSite(async ({ get, runtime }) => {
        await get('/behind', ANN)
        await runtime.advance(11_000)
        for (const fields of [BOB, ANN])
          expect(await get('/behind', fields)).toMatchObject({ status: 200, text: '{"run":1}' })
        expect(rejections).toContainEqual({ target: '/behind', status: 401, why: 'unreached' })
      })
    } finally {
      unsubscribe('cattlegrid:refresh-rejected', note)
    }
  })

  test('without a guard, a stale response is served at once and refreshed behind it', async () => {
    await onSite(async ({ get, runtime, cache }) => {
      await get('/open')
      await runtime.advance(11_000)
      const refreshed = new Promise((resolve) => cache.on('commit', resolve))
      expect(await get('/open')).toMatchObject({
        text: '{"run":1}',
        cache: 'hit; ttl=-1; detail=stale-while-revalidate',
      })
      await refreshed
      expect(await get('/open')).toMatchObject({ text: '{"run":2}', cache: 'hit; ttl=10' })
    })
  })
})
