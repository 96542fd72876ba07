import {
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  type NestInterceptor,
  NotFoundException,
  Res,
  Scope,
  UnauthorizedException,
} from '@nestjs/common'
import { APP_FILTER, APP_GUARD, APP_INTERCEPTOR, REQUEST } from '@nestjs/core'
import { map, type Observable } from 'rxjs'
import { expect, test } from '@jest/globals'
import { Cached } from '../src/index.ts'
import { describeOnBoth, type Site, type SiteOptions, startSite } from './support/site.ts'

interface Request {
  user?: unknown
  readonly headers: Readonly<Record<string, unknown>>
}

let made = 0

/** What Nest makes anew for each request, with the request. */
@Injectable({ scope: Scope.REQUEST })
class Login implements CanActivate {
  readonly #request: Request

  constructor(@Inject(REQUEST) request: Request) {
    made += 1
    this.#request = request
  }

  canActivate(): boolean {
    this.#request.user = this.#request.headers['x-user']
    if (this.#request.user === undefined) throw new UnauthorizedException()
    return true
  }
}

@Injectable({ scope: Scope.REQUEST })
class Envelope implements NestInterceptor {
  readonly #request: Request

  constructor(@Inject(REQUEST) request: Request) {
    this.#request = request
  }

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value: unknown) => ({ value, asked: this.#request.headers['x-asked'] ?? null })))
  }
}

@Injectable({ scope: Scope.REQUEST })
class Greeting implements NestInterceptor {
  readonly #request: Request

  constructor(@Inject(REQUEST) request: Request) {
    this.#request = request
  }

  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((value: unknown) => ({ value, for: this.#request.user })))
  }
}

interface Reply {
  status(status: number): Reply
  send(body: unknown): void
}

let caught = 0

@Catch(NotFoundException)
@Injectable({ scope: Scope.REQUEST })
class Missing implements ExceptionFilter {
  catch(_error: unknown, host: ArgumentsHost): void {
    caught += 1
    host.switchToHttp().getResponse<Reply>().status(404).send({ missing: caught })
  }
}

@Cached({ ttl: '10s', negativeTtl: '3s' })
@Controller()
class Pages {
  static runs = 0

  @Get('page')
  page(): string {
    return `run ${(Pages.runs += 1)}`
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException()
  }

  /** Past Nest, and past Fastify. */
  @Get('raw')
  raw(@Res() reply: { readonly raw?: Reply }): void {
    const body = `run ${(Pages.runs += 1)}`
    if (reply.raw === undefined) return (reply as Reply).send(body)
    const { raw } = reply as unknown as { readonly raw: { end(body: string): void } }
    Reflect.apply(Reflect.get(reply, 'hijack') as () => void, reply, [])
    raw.end(body)
  }
}

describeOnBoth('what the app has for all handlers, made for each request', (platform) => {
  async function onSite(providers: SiteOptions['providers'], body: (site: Site) => Promise<void>): Promise<void> {
    Pages.runs = 0
    made = 0
    caught = 0
    const site = await startSite(platform, { controllers: [Pages], providers })
    try {
      await body(site)
    } finally {
      await site.close()
    }
  }

  test('a guard runs on a hit, and refuses a stranger while the entry is fresh', async () => {
    await onSite([{ provide: APP_GUARD, useClass: Login }], async ({ get }) => {
      for (const user of ['ann', 'ben']) expect(await get('/page', { 'x-user': user })).toMatchObject({ text: 'run 1' })
      expect(await get('/page')).toMatchObject({ status: 401 })
      expect(made).toBe(3)
    })
  })

  test('an interceptor runs for the leader only, and what it makes is stored', async () => {
    await onSite([{ provide: APP_INTERCEPTOR, useClass: Envelope }], async ({ get }) => {
      for (const cache of ['fwd=uri-miss; stored; ttl=10', 'hit; ttl=10'])
        expect(await get('/page')).toMatchObject({ text: '{"value":"run 1","asked":null}', cache })
    })
  })

  test('an interceptor that reads the user gives no user the response of another one', async () => {
    const providers = [
      { provide: APP_GUARD, useClass: Login },
      { provide: APP_INTERCEPTOR, useClass: Greeting },
    ]
    await onSite(providers, async ({ get }) => {
      for (const user of ['ann', 'ben'])
        expect(JSON.parse((await get('/page', { 'x-user': user })).text)).toMatchObject({ for: user })
    })
  })

  test('a filter answers the first 404, and its answer is stored', async () => {
    await onSite([{ provide: APP_FILTER, useClass: Missing }], async ({ get }) => {
      for (const cache of ['fwd=uri-miss; stored; ttl=3', 'hit; ttl=3'])
        expect(await get('/missing')).toMatchObject({ status: 404, text: '{"missing":1}', cache })
    })
  })

  test('a handler that answers past Nest is sent once, whether its response is stored or not', async () => {
    await onSite([], async ({ get }) => {
      const [first, second] = [await get('/raw'), await get('/raw')]
      expect([first.text, second.text]).toEqual(platform === 'Express' ? ['run 1', 'run 1'] : ['run 1', 'run 2'])
    })
  })
})
