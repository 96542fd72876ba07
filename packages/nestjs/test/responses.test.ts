import { Readable } from 'node:stream'
import {
  BadGatewayException,
  Controller,
  Get,
  Header,
  HttpCode,
  type MessageEvent,
  NotFoundException,
  Param,
  ParseIntPipe,
  Redirect,
  Res,
  Sse,
  StreamableFile,
} from '@nestjs/common'
import { of } from 'rxjs'
import type { ResponseDirectives } from '@cattlegrid/http'
import { expect, test } from '@jest/globals'
import { CacheDirectives, Cached } from '../src/index.ts'
import { describeOnBoth, type Site, startSite } from './support/site.ts'

/** What the responses of Express and of Fastify share. */
interface Reply {
  header(name: string, value: unknown): Reply
  status(status: number): Reply
  send(body: unknown): Reply
}

@Cached({ ttl: '10s', negativeTtl: '3s' })
@Controller()
class Pages {
  runs = 0

  get run(): string {
    return `run ${(this.runs += 1)}`
  }

  @Get('object')
  object(): object {
    return { run: this.run }
  }

  @Get('text')
  text(): string {
    return this.run
  }

  @Get('nothing')
  nothing(): undefined {
    void this.run
  }

  @Get('fields')
  @Header('X-Kind', 'list')
  @Header('Content-Type', 'text/csv')
  @HttpCode(203)
  fields(): string {
    return this.run
  }

  @Get('private')
  @Header('Cache-Control', 'private')
  private(): string {
    return this.run
  }

  @Get('file')
  file(): StreamableFile {
    const source = Readable.from([Buffer.from(this.run), Buffer.from(', streamed')])
    return new StreamableFile(source, { type: 'text/css', disposition: 'inline; filename="a.css"' })
  }

  @Get('bytes')
  bytes(): StreamableFile {
    return new StreamableFile(Buffer.from(this.run), { type: 'image/png' })
  }

  @Get('moved')
  @Redirect('/text', 301)
  moved(): object {
    return { url: `/${this.run.replace(' ', '-')}` }
  }

  @Get('passthrough')
  passthrough(@Res({ passthrough: true }) reply: Reply): object {
    reply.header('x-run', this.run).status(203)
    return { run: this.run }
  }

  @Get('own')
  own(@Res() reply: Reply): void {
    reply.header('x-own', 'yes').send(this.run)
  }

  @Get('cookie')
  cookie(@Res({ passthrough: true }) reply: Reply): string {
    reply.header('set-cookie', 'session=of-ann')
    return this.run
  }

  @Get('promise')
  async promise(): Promise<object> {
    return { run: this.run }
  }

  @Get('observable')
  observable(): unknown {
    return of('an earlier value', this.run)
  }

  @Get('missing')
  missing(): never {
    throw new NotFoundException(this.run)
  }

  @Get('broken')
  broken(): never {
    throw new BadGatewayException(this.run)
  }

  @Get('number/:id')
  number(@Param('id', ParseIntPipe) id: number): string {
    return `${id} in ${this.run}`
  }

  @Get('decided/:id')
  decided(@CacheDirectives() cache: ResponseDirectives, @Param('id') id: string): string {
    if (id === 'never') cache.noStore()
    else cache.keep({ ttl: '1m' })
    return this.run
  }

  @Sse('events')
  events(): unknown {
    return of({ data: this.run } satisfies MessageEvent)
  }
}

const STORED = { status: 200, text: 'run 1' }

describeOnBoth('a response that Nest sends', (platform) => {
  async function onSite(body: (site: Site) => Promise<void>): Promise<void> {
    const site = await startSite(platform, { controllers: [Pages] })
    try {
      await body(site)
    } finally {
      await site.close()
    }
  }

  test.each([
    ['object', { status: 200, text: '{"run":"run 1"}' }],
    ['promise', { status: 200, text: '{"run":"run 1"}' }],
    ['text', STORED],
    ['nothing', { status: 200, text: '' }],
    ['observable', STORED],
    ['own', { ...STORED, headers: { 'x-own': 'yes' } }],
    ['fields', { status: 203, text: 'run 1', headers: { 'x-kind': 'list' } }],
    ['passthrough', { status: 203, text: '{"run":"run 2"}', headers: { 'x-run': 'run 1' } }],
    ['bytes', { ...STORED, headers: { 'content-type': 'image/png', 'content-length': '5' } }],
    ['moved', { status: 301, headers: { location: '/run-1' } }],
  ])('/%s is served from the cache as it was sent', async (path, answer) => {
    await onSite(async ({ get }) => {
      const [first, second] = [await get(`/${path}`), await get(`/${path}`)]
      expect([first, second]).toMatchObject([answer, answer])
      expect(second.cache).toBe('hit; ttl=10')
      expect(second.headers['content-type']).toBe(first.headers['content-type'])
    })
  })

  test('a file is stored once it is streamed', async () => {
    await onSite(async ({ get, cache }) => {
      const stored = new Promise((resolve) => cache.on('commit', resolve))
      const answer = {
        text: 'run 1, streamed',
        headers: { 'content-type': 'text/css', 'content-disposition': /a\.css/ },
      }
      const first = await get('/file')
      await stored
      const second = await get('/file')
      for (const { text, headers } of [first, second]) {
        expect(text).toBe(answer.text)
        expect(headers).toMatchObject({ 'content-type': 'text/css', 'content-disposition': 'inline; filename="a.css"' })
      }
      expect(second.cache).toBe('hit; ttl=10')
    })
  })

  test.each([
    ['cookie', 'set-cookie'],
    ['private', 'private'],
    ['decided/never', 'handler'],
  ])('/%s goes to its own client only', async (path, detail) => {
    await onSite(async ({ get }) => {
      expect(await get(`/${path}`)).toMatchObject({ text: 'run 1', cache: `fwd=uri-miss; detail=${detail}` })
      expect(await get(`/${path}`)).toMatchObject({ text: 'run 2' })
    })
  })

  test('a handler decides how long its response is fresh', async () => {
    await onSite(async ({ get }) => {
      expect(await get('/decided/longer')).toMatchObject({ cache: 'fwd=uri-miss; stored; ttl=60' })
    })
  })

  test('a HEAD request and a conditional one are answered from the entry of the GET request', async () => {
    await onSite(async ({ get, send }) => {
      const { headers } = await get('/object')
      expect(await send('/object', { method: 'HEAD' })).toMatchObject({ status: 200, text: '', cache: 'hit; ttl=10' })
      const etag = String((await get('/object')).headers.etag)
      expect(await get('/object', { 'if-none-match': etag })).toMatchObject({
        status: 304,
        text: '',
        cache: 'hit; ttl=10',
      })
      expect(headers['content-length']).toBe('15')
    })
  })

  test('an exception that says 404 is stored for negativeTtl, and 502 is not stored and starts a cooldown', async () => {
    await onSite(async ({ get, runtime }) => {
      expect(await get('/missing')).toMatchObject({ status: 404, cache: 'fwd=uri-miss; stored; ttl=3' })
      expect(await get('/missing')).toMatchObject({ status: 404, cache: 'hit; ttl=3' })
      expect(await get('/broken')).toMatchObject({ status: 502 })
      const cooling = await get('/broken')
      expect(cooling).toMatchObject({ status: 503, headers: { 'retry-after': '1' } })
      expect(JSON.parse(cooling.text)).toMatchObject({ statusCode: 503 })
      await runtime.advance(200)
      expect(await get('/broken')).toMatchObject({ status: 502 })
    })
  })

  test('what a pipe refuses is not stored', async () => {
    await onSite(async ({ get }) => {
      expect(await get('/number/x')).toMatchObject({ status: 400, cache: 'fwd=uri-miss; detail=status' })
      expect(await get('/number/7')).toMatchObject({ status: 200, text: '7 in run 1' })
    })
  })

  test('server-sent events are never cached', async () => {
    await onSite(async ({ get }) => {
      for (const run of [1, 2])
        expect(await get('/events')).toMatchObject({
          text: expect.stringContaining(`data: run ${run}`),
          cache: 'undefined',
        })
    })
  })
})
