import { setTimeout as sleep } from 'node:timers/promises'
import { Cached, InvalidateTags } from '@cattlegrid/nestjs'
import { Controller, Get, HttpCode, Post, UseGuards } from '@nestjs/common'
import { MemberGuard } from './member.guard.ts'

interface Product {
  readonly name: string
  price: number
}

// Stands for a slow database.
const products: readonly Product[] = [{ name: 'gate', price: 1999 }]

@Controller()
@UseGuards(MemberGuard)
export class ProductsController {
  @Get('products')
  @Cached({ ttl: '30s', staleWhileRevalidate: '5m', tags: ['products'] })
  async list(): Promise<readonly Product[]> {
    console.log('reading the products')
    await sleep(200)
    return products
  }

  // After the handler and before its response: a run of `list` that read the old prices can no longer store its response.
  @Post('price-rise')
  @HttpCode(204)
  @InvalidateTags(['products'])
  raise(): void {
    for (const product of products) product.price += 100
  }
}
