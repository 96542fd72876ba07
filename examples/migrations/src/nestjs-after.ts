import { Cached, CattlegridModule, InvalidateTags } from '@cattlegrid/nestjs'
import { redisStore } from '@cattlegrid/redis'
import { Body, Controller, Get, HttpCode, Module, Param, Put } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { findProduct, setPrice } from './database.ts'

@Controller('products')
class ProductsController {
  @Get(':id')
  @Cached({ ttl: 30_000, tags: (req) => [`product:${req.params['id']}`] })
  find(@Param('id') id: string) {
    return findProduct(id)
  }

  @Put(':id')
  @HttpCode(204)
  @InvalidateTags((_, req) => [`product:${req.params['id']}`])
  async change(@Param('id') id: string, @Body() body: { price: number }) {
    await setPrice(id, body.price)
  }
}

const store = redisStore({ url: process.env['REDIS_URL'] ?? '', namespace: 'shop' })
@Module({ imports: [CattlegridModule.forRoot({ options: { store } })], controllers: [ProductsController] })
class AppModule {}

const nest = await NestFactory.create(AppModule, { logger: false })
export const app = (await nest.init()).getHttpAdapter().getInstance()
