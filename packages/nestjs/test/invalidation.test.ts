import { Controller, Delete, Get, HttpCode, Param, Put, Res } from '@nestjs/common'
import { of } from 'rxjs'
import { expect, test } from '@jest/globals'
import { Cached, type CachedRequest, InvalidateTags } from '../src/index.ts'
import { describeOnBoth, type Site, startSite } from './support/site.ts'

interface Product {
  readonly id: string
}

@Controller('products')
class Products {
  runs = 0

  @Get(':id')
  @Cached({ ttl: '1m', tags: (req) => ['products', `product:${req.params['id']}`] })
  find(@Param('id') id: string): object {
    return { id, run: (this.runs += 1) }
  }

  @Put('by-result/:id')
  @InvalidateTags((product: Product) => [`product:${product.id}`])
  byResult(@Param('id') id: string): Product {
    return { id }
  }

  @Put('without-tags/:id')
  @InvalidateTags((product: Product & { readonly owner: { readonly id: string } }) => [product.owner.id])
  withoutTags(@Param('id') id: string): Product {
    return { id }
  }

  @Put('by-request/:id')
  @InvalidateTags((_result, request: CachedRequest) => [`product:${request.params['id']}`])
  async byRequest(): Promise<void> {}

  @Delete('all')
  @InvalidateTags(['products'])
  all(): unknown {
    return of(undefined)
  }

  @Put('failing/:id')
  @InvalidateTags(['products'])
  failing(): never {
    throw new Error('broken')
  }

  @Put('refused/:id')
  @InvalidateTags(['products'])
  refused(@Res({ passthrough: true }) reply: { status(status: number): void }): string {
    reply.status(409)
    return 'conflict'
  }
}

@Controller('notes')
@InvalidateTags(['products'])
class Notes {
  @Put()
  @HttpCode(204)
  write(): void {}
}

describeOnBoth('@InvalidateTags()', (platform) => {
  async function onSite(body: (site: Site) => Promise<void>): Promise<void> {
    const site = await startSite(platform, { controllers: [Products, Notes] })
    try {
      await body(site)
    } finally {
      await site.close()
    }
  }

  test('answers a write that is done, also if its tags cannot be made', async () => {
    await onSite(async (site) => {
      expect((await site.send('/products/without-tags/7', { method: 'PUT' })).status).toBe(200)
    })
  })

  test.each([
    ['what the handler returned', 'PUT', '/products/by-result/7', { 7: 3, 8: 2 }],
    ['the request', 'PUT', '/products/by-request/7', { 7: 3, 8: 2 }],
    ['a list', 'DELETE', '/products/all', { 7: 3, 8: 4 }],
    ['a list of the controller', 'PUT', '/notes', { 7: 3, 8: 4 }],
    ['nothing, where the handler throws', 'PUT', '/products/failing/7', { 7: 1, 8: 2 }],
    ['nothing, where the handler answers 409', 'PUT', '/products/refused/7', { 7: 1, 8: 2 }],
  ])('takes its tags from %s, and its client reads nothing old', async (_, method, path, runs) => {
    await onSite(async ({ get, send }) => {
      for (const id of [7, 8]) await get(`/products/${id}`)
      await send(path, { method })
      for (const [id, run] of Object.entries(runs))
        expect(await get(`/products/${id}`)).toMatchObject({ text: JSON.stringify({ id, run }) })
    })
  })

  test('is done before the response is sent', async () => {
    await onSite(async ({ cache, get, send }) => {
      const order: string[] = []
      const { invalidateTags } = cache
      let begin!: () => void
      let end!: () => void
      const begun = new Promise<void>((resolve) => (begin = resolve))
      const ended = new Promise<void>((resolve) => (end = resolve))
      Object.defineProperty(cache, 'invalidateTags', {
        value: async (tags: string[]) => {
          begin()
          await ended
          await Reflect.apply(invalidateTags, cache, [tags])
          order.push('invalidated')
        },
      })
      const answered = send('/products/by-result/7', { method: 'PUT' }).then(() => order.push('answered'))
      await begun
      // Longer than the response would take.
      for (const id of [1, 2, 3]) await get(`/products/${id}`)
      end()
      await answered
      expect(order).toEqual(['invalidated', 'answered'])
    })
  })
})
