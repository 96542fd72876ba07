// The README's table for people who come from @nestjs/cache-manager: the code before and the code after it, both run.
import * as before from '@nestjs/cache-manager'
import type { Cache } from '@cattlegrid/core'
import type { Cache as CacheManager } from 'cache-manager'
import { Controller, Delete, Get, Inject, Param, type Type, UseInterceptors } from '@nestjs/common'
import { expect, test } from '@jest/globals'
import { ask, textOf } from '../../../test/wire.ts'
import * as after from '../src/index.ts'
import { createApp, describeOnBoth, type Platform } from './support/site.ts'

/** What every controller here does. */
class Queries {
  runs = 0

  query(id: string): object {
    return { id, run: (this.runs += 1) }
  }
}

@Controller('products')
@UseInterceptors(before.CacheInterceptor)
class ProductsBefore extends Queries {
  readonly cache: CacheManager

  constructor(@Inject(before.CACHE_MANAGER) cache: CacheManager) {
    super()
    this.cache = cache
  }

  @Get('named')
  @before.CacheKey('named')
  @before.CacheTTL(60_000)
  named(): object {
    return this.query('named')
  }

  @Get('value/:id')
  @before.CacheTTL(1)
  async value(@Param('id') id: string): Promise<unknown> {
    const known = await this.cache.get(id)
    if (known !== undefined) return known
    const value = this.query(id)
    await this.cache.set(id, value, 60_000)
    return value
  }

  @Get(':id')
  find(@Param('id') id: string): object {
    return this.query(id)
  }

  @Delete()
  async clear(): Promise<void> {
    await this.cache.del('named')
  }
}

@Controller('products')
@UseInterceptors(after.CacheInterceptor)
class ProductsAfter extends Queries {
  readonly cache: Cache

  constructor(@after.InjectCache() cache: Cache) {
    super()
    this.cache = cache
  }

  @Get('named')
  @after.Cached({ tags: ['named'] })
  @after.CacheTTL(60_000)
  named(): object {
    return this.query('named')
  }

  @Get('value/:id')
  @after.Cached(false)
  async value(@Param('id') id: string): Promise<unknown> {
    return await this.cache.getOrSet(id, () => this.query(id), { ttl: 60_000 })
  }

  @Get(':id')
  find(@Param('id') id: string): object {
    return this.query(id)
  }

  @Delete()
  @after.InvalidateTags(['named'])
  clear(): void {}
}

const MODULES = {
  before: () => before.CacheModule.register({ ttl: 60_000, isGlobal: true }),
  after: () => after.CattlegridModule.forRoot({ defaults: { ttl: 60_000 } }),
} as const

const CONTROLLERS: Readonly<Record<keyof typeof MODULES, Type>> = { before: ProductsBefore, after: ProductsAfter }

/** The bodies of the visits, one after another. */
async function visit(platform: Platform, version: keyof typeof MODULES): Promise<readonly string[]> {
  class Root {}
  const app = await createApp(platform, {
    module: Root,
    imports: [MODULES[version]()],
    controllers: [CONTROLLERS[version]],
  })
  try {
    await app.listen(0, '127.0.0.1')
    const port = Number(new URL(await app.getUrl()).port)
    const texts: string[] = []
    for (const [method, path] of VISITS) texts.push(textOf(await ask(port, path, { method })))
    return texts
  } finally {
    await app.close()
  }
}

const VISITS = [
  ['GET', '/products/7'],
  ['GET', '/products/7'],
  ['GET', '/products/8'],
  ['GET', '/products/named'],
  ['GET', '/products/named'],
  ['DELETE', '/products'],
  ['GET', '/products/named'],
  ['GET', '/products/value/9'],
  ['GET', '/products/value/9'],
] as const

describeOnBoth('the migration from @nestjs/cache-manager', (platform) => {
  test.each(['before', 'after'] as const)('the code %s it answers alike', async (version) => {
    const seven = '{"id":"7","run":1}'
    const named = '{"id":"named","run":3}'
    const value = '{"id":"9","run":5}'
    const bodies = [seven, seven, '{"id":"8","run":2}', named, named, '', '{"id":"named","run":4}', value, value]
    expect(await visit(platform, version)).toEqual(bodies)
  })
})
