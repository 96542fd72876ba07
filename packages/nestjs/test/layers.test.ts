import {
  type ArgumentsHost,
  Body,
  type CallHandler,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  HttpException,
  type INestApplication,
  Inject,
  Injectable,
  type NestInterceptor,
  Param,
  type PipeTransform,
  Redirect,
  Render,
  Scope,
  type Type,
  UseFilters,
  UseInterceptors,
  UsePipes,
} from '@nestjs/common'
import { APP_INTERCEPTOR, REQUEST } from '@nestjs/core'
import { map, type Observable, tap, timeout } from 'rxjs'
import { expect, test } from '@jest/globals'
import { Cached } from '../src/index.ts'
import { describeOnBoth, type Site, type SiteOptions, startSite } from './support/site.ts'

/** The layers that ran, in order. */
const ran: string[] = []

function wrap(name: string): NestInterceptor {
  return {
    intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
      ran.push(name)
      return next.handle().pipe(
        timeout(60_000),
        map((value: unknown) => ({ [name]: value })),
        tap(() => ran.push(`after ${name}`)),
      )
    },
  }
}

/** Returns what the first client may see to all, as a filter by role does. */
@Injectable()
class RoleFilter implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    // Before the handler, so that a cache inside of this interceptor would see no read.
    const { user } = context.switchToHttp().getRequest<{ readonly user?: unknown }>()
    return next.handle().pipe(map((value: unknown) => ({ value, for: user })))
  }
}

@Catch()
class AnyFilter implements ExceptionFilter {
  catch(error: unknown, host: ArgumentsHost): void {
    const status = error instanceof HttpException ? error.getStatus() : 500
    ran.push(`filter ${status}`)
    host.switchToHttp().getResponse<Reply>().status(status).send({ caught: status })
  }
}

interface Reply {
  status(status: number): Reply
  send(body: unknown): void
}

class NotePipe implements PipeTransform {
  transform(value: unknown): unknown {
    ran.push('pipe')
    return value
  }
}

@Injectable({ scope: Scope.REQUEST })
class Tenant {
  readonly #request: { readonly user?: unknown }

  constructor(@Inject(REQUEST) request: { readonly user?: unknown }) {
    this.#request = request
  }

  get user(): unknown {
    return this.#request.user
  }
}

@Controller('scoped')
class ScopedPages {
  static runs = 0
  readonly tenant: Tenant

  constructor(@Inject(Tenant) tenant: Tenant) {
    this.tenant = tenant
  }

  @Get('shared')
  @Cached({ ttl: '10s' })
  shared(): object {
    return { run: (ScopedPages.runs += 1) }
  }

  @Get('personal')
  @Cached({ ttl: '10s' })
  personal(): object {
    return { user: this.tenant.user ?? null }
  }
}

@Controller()
@UseInterceptors(wrap('class'))
class Pages {
  runs = 0

  @Get('page/:id')
  @UsePipes(NotePipe)
  @UseInterceptors(wrap('route'))
  @Cached({ ttl: '10s' })
  page(@Param('id') id: string): object {
    ran.push('handler')
    return { id, run: (this.runs += 1) }
  }

  @Get('body')
  @Cached({ ttl: '10s' })
  body(@Body() body: unknown): object {
    return { body: body ?? null, run: (this.runs += 1) }
  }

  @Get('moved')
  @Redirect('/page/7', 301)
  @Cached({ ttl: '10s' })
  moved(): void {}

  @Get('view')
  @Render('view')
  @Cached({ ttl: '10s' })
  view(): object {
    return { name: 'gate' }
  }

  @Get('caught')
  @UseFilters(AnyFilter)
  @Cached({ ttl: '10s', failureCooldown: { min: '10s', max: '10s' } })
  caught(): never {
    throw new Error('broken')
  }
}

let rendered = 0
/** The warnings in the log of Fastify, such as of a reply that is sent twice. */
const warnings: unknown[] = []

/** A view engine for either platform. */
function renderWith(app: INestApplication): void {
  const render = (options: { class: { name: string } }): string => {
    rendered += 1
    return `the name is ${options.class.name}`
  }
  const instance: unknown = app.getHttpAdapter().getInstance()
  if (app.getHttpAdapter().getType() === 'fastify') {
    const fastify = instance as FastifyApp
    fastify.decorateReply('view', function view(this: Reply, _: string, options: never) {
      this.send(render(options))
      return this
    })
    fastify.addHook('onRequest', (_, reply, next) => {
      reply.log.warn = (message: unknown) => warnings.push(message)
      next()
    })
    return
  }
  const express = instance as ExpressApp
  express.engine('txt', (_, options, done) => done(null, render(options)))
  express.set('view engine', 'txt')
  express.set('views', __dirname)
}

interface FastifyApp {
  decorateReply(name: string, method: (this: Reply, view: string, options: never) => unknown): void
  addHook(name: string, hook: (request: unknown, reply: { log: { warn: unknown } }, next: () => void) => void): void
}

interface ExpressApp {
  engine(name: string, render: (path: string, options: never, done: (error: null, text: string) => void) => void): void
  set(name: string, value: string): void
}

describeOnBoth('layers', (platform) => {
  async function onSite(body: (site: Site) => Promise<void>, options: SiteOptions = {}): Promise<void> {
    ran.length = 0
    const site = await startSite(platform, { controllers: [Pages as Type], ...options })
    try {
      await body(site)
    } finally {
      await site.close()
    }
  }

  test('interceptors, pipes and the handler run for the leader only, and what interceptors make is stored', async () => {
    const options: SiteOptions = {
      providers: [{ provide: APP_INTERCEPTOR, useValue: wrap('module') }],
      setUp: (app) => app.useGlobalInterceptors(wrap('app')),
    }
    await onSite(async ({ get }) => {
      const first = await get('/page/7')
      expect(JSON.parse(first.text)).toEqual({ module: { app: { class: { route: { id: '7', run: 1 } } } } })
      const layers = ['module', 'app', 'class', 'route']
      const after = layers.toReversed().map((name) => `after ${name}`)
      expect(ran).toEqual([...layers, 'pipe', 'handler', ...after])
      expect(await get('/page/7')).toMatchObject({ text: first.text, cache: 'hit; ttl=10' })
      expect(ran).toHaveLength(10)
    }, options)
  })

  test.each<[string, SiteOptions]>([
    ['of the app', { setUp: (app) => app.useGlobalInterceptors(new RoleFilter()) }],
    ['of a module', { providers: [{ provide: APP_INTERCEPTOR, useClass: RoleFilter }] }],
  ])('an interceptor %s that reads the user makes the response its client’s own', async (_, options) => {
    await onSite(async ({ get }) => {
      expect(await get('/page/7')).toMatchObject({ cache: 'fwd=uri-miss; detail=personal' })
      expect(JSON.parse((await get('/page/7')).text)).toMatchObject({ value: { class: { route: { run: 2 } } } })
    }, options)
  })

  test('a filter answers an exception, which is not stored, and then the 503 of the cooldown', async () => {
    await onSite(async ({ get }) => {
      expect(await get('/caught')).toMatchObject({ status: 500, text: '{"caught":500}' })
      expect(await get('/caught')).toMatchObject({
        status: 503,
        text: '{"caught":503}',
        headers: { 'retry-after': '10' },
      })
      expect(ran.filter((name) => name.startsWith('filter'))).toEqual(['filter 500', 'filter 503'])
    })
  })

  test.each(['/page/7', '/moved', '/view'])(
    'a hit of %s is sent once: Nest adds nothing, and no filter sees an error',
    async (path) => {
      await onSite(
        async ({ get }) => {
          const first = await get(path)
          await get(path)
          const hit = await get(path)
          expect([hit.text, hit.cache]).toEqual([first.text, 'hit; ttl=10'])
          expect([ran.filter((name) => name.startsWith('filter')), rendered, warnings]).toEqual([
            [],
            path === '/view' ? 1 : 0,
            [],
          ])
        },
        {
          setUp: (app) => {
            rendered = 0
            warnings.length = 0
            app.useGlobalFilters(new AnyFilter())
            renderWith(app)
          },
        },
      )
    },
  )

  test('a GET request with a body is never stored', async () => {
    await onSite(async ({ get, send }) => {
      const headers = { 'content-type': 'application/json', 'content-length': '7' }
      await send('/body', { headers, body: '{"a":1}' })
      expect(JSON.parse((await get('/body')).text)).toMatchObject({ class: { run: 2 } })
    })
  })

  test('a controller that lives for one request has shared responses, and a read of the user in its providers counts', async () => {
    ScopedPages.runs = 0
    const body = async ({ get }: Site): Promise<void> => {
      await get('/scoped/shared')
      expect(await get('/scoped/shared')).toMatchObject({ text: '{"run":1}', cache: 'hit; ttl=10' })
      expect(await get('/scoped/personal')).toMatchObject({
        text: '{"user":null}',
        cache: 'fwd=uri-miss; detail=personal',
      })
    }
    await onSite(body, { controllers: [ScopedPages], providers: [Tenant] })
  })
})
