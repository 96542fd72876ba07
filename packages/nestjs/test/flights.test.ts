import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { EventEmitter } from 'node:events'
import { request as send, type ServerResponse } from 'node:http'
import { pipeline, Readable } from 'node:stream'
import { Controller, Get, type INestApplication, Res, StreamableFile } from '@nestjs/common'
import { from, type Observable } from 'rxjs'
import { expect, test } from '@jest/globals'
import { Cached } from '../src/index.ts'
import { describeOnBoth, type Site, startSite } from './support/site.ts'

interface FastifyReply {
  readonly raw: ServerResponse
  send(body: Readable): void
}

interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
}

function gate(): Gate {
  let open!: () => void
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

const tenants = new AsyncLocalStorage<string>()

let door = gate()
let running = gate()

@Cached({ ttl: '10s', staleWhileRevalidate: '1m' })
@Controller()
class Pages {
  runs = 0
  fails = false
  listeners = 0

  @Get('slow')
  async slow(): Promise<object> {
    running.open()
    await door.opened
    if (this.fails) throw new Error('broken')
    return { run: (this.runs += 1) }
  }

  @Get('observable')
  observable(): Observable<object> {
    return from(this.slow())
  }

  @Get('late-file')
  @Cached({ loadTimeout: '3s' })
  async lateFile(): Promise<StreamableFile> {
    await this.slow()
    return new StreamableFile(Buffer.from('late'))
  }

  @Get('stalled-file')
  @Cached({ loadTimeout: '3s' })
  stalledFile(): StreamableFile {
    running.open()
    return new StreamableFile(new Readable({ read: () => undefined }))
  }

  @Get('piped')
  piped(@Res() reply: ServerResponse | FastifyReply): void {
    if ('raw' in reply) reply.send(Readable.from(['piped']))
    else pipeline(Readable.from(['piped']), reply, () => undefined)
    this.listeners = ('raw' in reply ? reply.raw : reply).listenerCount('close')
  }

  @Get('kept')
  @Cached({ staleIfError: '1h', staleWhileRevalidate: 0, softTimeout: false })
  async kept(): Promise<object> {
    return await this.slow()
  }

  @Get('tenant')
  @Cached({ key: { headers: ['x-tenant'] } })
  async tenant(): Promise<object> {
    await this.slow()
    return { tenant: tenants.getStore() }
  }
}

/** Nest's own calls of the handlers. */
const calls: unknown[] = []

function noteCalls(app: INestApplication): void {
  const adapter = app.getHttpAdapter()
  const get: unknown = Reflect.get(adapter, 'get')
  const noted = (handler: (...args: unknown[]) => unknown, ...args: unknown[]): unknown => {
    const call = handler(...args)
    calls.push(call)
    return call
  }
  Object.defineProperty(adapter, 'get', {
    value: (path: string, handler: (...args: unknown[]) => unknown): unknown =>
      Reflect.apply(get as Function, adapter, [path, (...args: unknown[]) => noted(handler, ...args)]),
  })
}

describeOnBoth('requests at the same time', (platform) => {
  async function onSite(body: (site: Site) => Promise<void>): Promise<void> {
    door = gate()
    running = gate()
    calls.length = 0
    const site = await startSite(platform, {
      controllers: [Pages],
      setUp: (app) => {
        noteCalls(app)
        app.use((req: { headers: Record<string, string> }, _: unknown, next: () => void) => {
          tenants.run(String(req.headers['x-tenant']), next)
        })
      },
    })
    try {
      await body(site)
    } finally {
      door.open()
      await site.close()
    }
  }

  /** Asks and hangs up, once the handler runs, or the event has come. */
  async function askAndLeave({ port, cache }: Site, path: string, event?: 'join'): Promise<void> {
    const begun = event === undefined ? running.opened : new Promise((resolve) => cache.on(event, resolve))
    const request = send({ port, path, host: '127.0.0.1', headers: { host: 'shop' } })
    request.once('error', () => undefined)
    request.end()
    await begun
    const closed = new Promise((resolve) => request.once('close', resolve))
    request.destroy()
    await closed
  }

  test('one run of the handler serves 100 of them, at first and after the expiry', async () => {
    await onSite(async ({ get, runtime, cache }) => {
      const crowd = async (): Promise<readonly string[]> => {
        door = gate()
        running = gate()
        let joins = 0
        const joined = new Promise<void>((resolve) => {
          cache.on('join', () => (joins += 1) % 99 === 0 && resolve())
        })
        const answers = Array.from({ length: 100 }, () => get('/slow'))
        await Promise.all([running.opened, joined])
        door.open()
        return [...new Set((await Promise.all(answers)).map(({ text }) => text))]
      }
      expect(await crowd()).toEqual(['{"run":1}'])
      await runtime.advance(71_000)
      expect(await crowd()).toEqual(['{"run":2}'])
    })
  })

  test('a stale response is served while the handler runs once behind it', async () => {
    await onSite(async ({ get, runtime, app, cache }) => {
      door.open()
      await get('/slow')
      await runtime.advance(11_000)
      door = gate()
      const committed = new Promise((resolve) => cache.on('commit', resolve))
      const answers = await Promise.all(Array.from({ length: 20 }, () => get('/slow')))
      expect(new Set(answers.map(({ text }) => text))).toEqual(new Set(['{"run":1}']))
      door.open()
      await committed
      expect(app.get(Pages).runs).toBe(2)
    })
  })

  test('a failing handler is replaced by the response that is kept for errors', async () => {
    await onSite(async ({ get, runtime, app }) => {
      door.open()
      await get('/kept')
      await runtime.advance(11_000)
      app.get(Pages).fails = true
      expect(await get('/kept')).toMatchObject({
        status: 200,
        text: '{"run":1}',
        cache: expect.stringContaining('stale-if-error'),
      })
    })
  })

  test.each(['/slow', '/observable'])('%s goes on for its followers when its leader’s client leaves', async (path) => {
    await onSite(async (site) => {
      const left = askAndLeave(site, path)
      await running.opened
      const follower = site.get(path)
      const joined = new Promise((resolve) => site.cache.on('join', resolve))
      await Promise.all([left, joined])
      door.open()
      expect(await follower).toMatchObject({ status: 200, text: '{"run":1}' })
      expect(site.app.get(Pages).runs).toBe(1)
    })
  })

  test('a handler that fails when its leader’s client has left fails no follower', async () => {
    await onSite(async (site) => {
      const left = askAndLeave(site, '/observable')
      await running.opened
      const pages = site.app.get(Pages)
      const follower = site.get('/observable')
      const joined = new Promise((resolve) => site.cache.on('join', resolve))
      await Promise.all([left, joined])
      pages.fails = true
      const retried = new Promise((resolve) => site.cache.on('load', resolve))
      door.open()
      await retried
      expect(await follower).toMatchObject({ status: 500 })
      expect(pages.runs).toBe(0)
    })
  })

  test('a file that comes after the 504 of its load is destroyed', async () => {
    await onSite(async ({ get, runtime }) => {
      const answer = get('/late-file')
      await running.opened
      await runtime.advance(3000)
      expect(await answer).toMatchObject({ status: 504, text: expect.stringContaining('"statusCode":504') })
    })
  })

  test('a file that never begins is replaced by a 504, although the handler has returned', async () => {
    await onSite(async ({ get, runtime }) => {
      const answer = get('/stalled-file')
      await running.opened
      await new Promise(setImmediate)
      await runtime.advance(3000)
      expect(await answer).toMatchObject({ status: 504, text: expect.stringContaining('"statusCode":504') })
    })
  })

  test('Nest’s own call ends with a hit, and when the client of a follower leaves', async () => {
    await onSite(async (site) => {
      const leader = site.get('/slow')
      await running.opened
      await askAndLeave(site, '/slow', 'join')
      door.open()
      await leader
      await site.get('/slow')
      expect(await Promise.all(calls)).toHaveLength(3)
    })
  })

  test('a handler may pipe a stream, and requests are counted: Node does not warn of the listeners of its response', async () => {
    const count = (): void => undefined
    subscribe('cattlegrid:http', count)
    try {
      await onSite(async ({ get, app }) => {
        expect(await get('/piped')).toMatchObject({ text: 'piped' })
        expect(app.get(Pages).listeners).toBeLessThanOrEqual(EventEmitter.defaultMaxListeners)
      })
    } finally {
      unsubscribe('cattlegrid:http', count)
    }
  })

  test('each handler runs in the async context of its own request', async () => {
    await onSite(async ({ get }) => {
      door.open()
      const answers = await Promise.all(['ann', 'bob'].map((tenant) => get('/tenant', { 'x-tenant': tenant })))
      expect(answers.map(({ text }) => text)).toEqual(['{"tenant":"ann"}', '{"tenant":"bob"}'])
    })
  })
})
