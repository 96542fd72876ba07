import { once } from 'node:events'
import { Controller, Get, type INestApplication, UseInterceptors } from '@nestjs/common'
import { APP_INTERCEPTOR } from '@nestjs/core'
import {
  ClientProxyFactory,
  type ClientTCP,
  MessagePattern,
  type MicroserviceOptions,
  Payload,
  Transport,
} from '@nestjs/microservices'
import { WsAdapter } from '@nestjs/platform-ws'
import { MessageBody, SubscribeMessage, WebSocketGateway } from '@nestjs/websockets'
import { firstValueFrom } from 'rxjs'
import { WebSocket as WebSocketClient } from 'ws'
import type { Cache } from '@cattlegrid/core'
import { describe, expect, test } from '@jest/globals'
import { Cached, CacheInterceptor, InjectCache, InvalidateTags } from '../src/index.ts'
import { freePort } from '../../../test/free-port.ts'
import { type Site, type SiteOptions, startSite } from './support/site.ts'

interface Message {
  readonly user: string
}

@Controller()
class CachedMessages {
  @MessagePattern('me')
  @Cached({ ttl: '1m' })
  me(@Payload() { user }: Message): string {
    return user
  }
}

@Cached({ ttl: '1m' })
@Controller()
class CachedController {
  @MessagePattern('me')
  me(@Payload() { user }: Message): string {
    return user
  }
}

@WebSocketGateway()
class CachedGateway {
  @SubscribeMessage('me')
  @Cached({ ttl: '1m' })
  me(@MessageBody() { user }: Message): string {
    return user
  }
}

/** Handles requests, which are cached, and messages, which are not. */
@Cached({ ttl: '1m' })
@Controller()
class Both {
  runs = 0
  price = 5
  readonly cache: Cache

  constructor(@InjectCache() cache: Cache) {
    this.cache = cache
  }

  @Get('page')
  page(): string {
    return `run ${(this.runs += 1)}`
  }

  @Get('total')
  @MessagePattern('total')
  total(): string {
    return `run ${(this.runs += 1)}`
  }

  @MessagePattern('me')
  @UseInterceptors(CacheInterceptor)
  me(@Payload() { user }: Message): string {
    return user
  }

  @MessagePattern('price')
  async priceOf(@Payload() name: string): Promise<number> {
    return await this.cache.getOrSet(`price:${name}`, async () => this.price, { ttl: '1m', tags: [`product:${name}`] })
  }

  @MessagePattern('raise')
  @InvalidateTags((_result: string, name: string) => [`product:${name}`])
  raise(@Payload() name: string): string {
    this.price += 1
    return name
  }
}

@WebSocketGateway()
class Prices {
  price = 5
  readonly cache: Cache

  constructor(@InjectCache() cache: Cache) {
    this.cache = cache
  }

  @SubscribeMessage('price')
  async priceOf(@MessageBody() name: string): Promise<unknown> {
    const load = async (): Promise<number> => this.price
    const data = await this.cache.getOrSet(`price:${name}`, load, { ttl: '1m', tags: [`product:${name}`] })
    return { event: 'price', data }
  }

  @SubscribeMessage('raise')
  @InvalidateTags((_result: unknown, name: string) => [`product:${name}`])
  raise(): unknown {
    this.price += 1
    return { event: 'raised' }
  }
}

function useWebSocket(app: INestApplication): void {
  app.useWebSocketAdapter(new WsAdapter(app))
}

const REFUSED: readonly (readonly [string, SiteOptions, string])[] = [
  ['a message handler', { controllers: [CachedMessages] }, 'CachedMessages.me'],
  ['a controller that handles no requests', { controllers: [CachedController] }, 'CachedController.me'],
  ['a handler of a WebSocket gateway', { providers: [CachedGateway], setUp: useWebSocket }, 'CachedGateway.me'],
]

test.each(REFUSED)(
  '%s with @Cached() keeps the app from starting, and the error says what to do',
  async (_, options, title) => {
    const started = startSite('Express', options)
    await expect(started).rejects.toThrow(`@Cached() on ${title}`)
    await expect(started).rejects.toThrow(/cache\.getOrSet\(\)/)
  },
)

describe('messages over TCP', () => {
  async function onSite(
    body: (site: Site, client: ClientTCP) => Promise<void>,
    options: SiteOptions = {},
  ): Promise<void> {
    const settings = { transport: Transport.TCP, options: { host: '127.0.0.1', port: await freePort() } } as const
    const setUp: SiteOptions['setUp'] = async (app) => {
      app.connectMicroservice<MicroserviceOptions>(settings, { inheritAppConfig: true })
      await app.startAllMicroservices()
    }
    const site = await startSite('Express', { controllers: [Both], setUp, ...options })
    const client = ClientProxyFactory.create(settings) as ClientTCP
    try {
      await body(site, client)
    } finally {
      client.close()
      await site.close()
    }
  }

  async function ask(client: ClientTCP, pattern: string, data: unknown): Promise<unknown> {
    return await firstValueFrom(client.send<unknown>(pattern, data))
  }

  test.each<[string, SiteOptions]>([
    ['its handler and its cached controller', {}],
    ['the whole app', { providers: [{ provide: APP_INTERCEPTOR, useClass: CacheInterceptor }] }],
  ])('CacheInterceptor for %s gives no sender the result of another one', async (_, options) => {
    await onSite(async ({ get }, client) => {
      for (const user of ['ann', 'ben']) expect(await ask(client, 'me', { user })).toBe(user)
      expect([await get('/page'), await get('/page')]).toMatchObject([{ text: 'run 1' }, { text: 'run 1' }])
    }, options)
  })

  test('a method that handles requests too is cached for these, and runs for each message', async () => {
    await onSite(async ({ get }, client) => {
      expect([await get('/total'), await get('/total')]).toMatchObject([{ text: 'run 1' }, { text: 'run 1' }])
      expect([await ask(client, 'total', ''), await ask(client, 'total', '')]).toEqual(['run 2', 'run 3'])
    })
  })

  test('a handler caches the value by cache.getOrSet(), and @InvalidateTags() on another one ends it', async () => {
    await onSite(async ({ app }, client) => {
      expect(await ask(client, 'price', 'gate')).toBe(5)
      app.get(Both).price = 6
      expect(await ask(client, 'price', 'gate')).toBe(5)
      await ask(client, 'raise', 'gate')
      expect(await ask(client, 'price', 'gate')).toBe(7)
    })
  })
})

describe('messages over WebSocket', () => {
  test('a gateway caches the value by cache.getOrSet(), and @InvalidateTags() gets the data of the message', async () => {
    const site = await startSite('Express', { providers: [Prices], setUp: useWebSocket })
    const socket = new WebSocketClient(`ws://127.0.0.1:${site.port}`)
    try {
      await once(socket, 'open')
      const ask = async (event: string): Promise<unknown> => {
        const answered = once(socket, 'message') as Promise<[Buffer]>
        socket.send(JSON.stringify({ event, data: 'gate' }))
        return JSON.parse((await answered)[0].toString())
      }
      expect(await ask('price')).toEqual({ event: 'price', data: 5 })
      site.app.get(Prices).price = 6
      expect(await ask('price')).toEqual({ event: 'price', data: 5 })
      await ask('raise')
      expect(await ask('price')).toEqual({ event: 'price', data: 7 })
    } finally {
      socket.terminate()
      await site.close()
    }
  })
})
