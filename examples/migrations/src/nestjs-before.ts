import { CACHE_MANAGER, CacheInterceptor, CacheModule, CacheTTL } from '@nestjs/cache-manager'
import { Body, Controller, Get, HttpCode, Inject, Module, Param, Put, UseInterceptors } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import type { Cache } from 'cache-manager'
import { findProduct, setPrice } from './database.ts'

@Controller('products')
class ProductsController {
  constructor(@Inject(CACHE_MANAGER) private readonly cache: Cache) {}

  @Get(':id')
  @UseInterceptors(CacheInterceptor)
  @CacheTTL(30_000)
  find(@Param('id') id: string) {
    return findProduct(id)
  }

  @Put(':id')
  @HttpCode(204)
  async change(@Param('id') id: string, @Body() body: { price: number }) {
    await setPrice(id, body.price)
    await this.cache.del(`/products/${id}`)
  }
}

@Module({ imports: [CacheModule.register({ isGlobal: true })], controllers: [ProductsController] })
class AppModule {}

const nest = await NestFactory.create(AppModule, { logger: false })
export const app = (await nest.init()).getHttpAdapter().getInstance()
