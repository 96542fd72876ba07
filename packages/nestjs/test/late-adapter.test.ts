import 'reflect-metadata'
import { Controller, Get, Module } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { expect, test } from '@jest/globals'

test('an adapter that was made before the package was loaded gets no user of an onSend hook into what is stored', async () => {
  const adapter = new FastifyAdapter()
  adapter
    .getInstance()
    .addHook('onSend', async ({ headers }, _reply, payload) =>
      String(payload).replace('NAME', String(headers['x-user'])),
    )
  const { Cached, CattlegridModule } = await import('../src/index.ts')
  class Pages {
    page(): string {
      return 'Hello NAME'
    }
  }
  Controller()(Pages)
  const page = Object.getOwnPropertyDescriptor(Pages.prototype, 'page') as TypedPropertyDescriptor<unknown>
  for (const decorate of [Get('page'), Cached({ ttl: '1h' })]) decorate(Pages.prototype, 'page', page)
  class Site {}
  Module({ imports: [CattlegridModule.forRoot()], controllers: [Pages] })(Site)
  const app = await NestFactory.create(Site, adapter, { logger: false, abortOnError: false })
  await app.init()
  const ask = async (user: string): Promise<string> =>
    (await adapter.inject({ url: '/page', headers: { 'x-user': user } })).body
  try {
    expect([await ask('admin'), await ask('bob')]).toEqual(['Hello admin', 'Hello bob'])
  } finally {
    await app.close()
  }
})
