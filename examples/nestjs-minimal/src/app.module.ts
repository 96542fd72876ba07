import { Module } from '@nestjs/common'
import { CattlegridModule } from '@cattlegrid/nestjs'
import { redisStore } from '@cattlegrid/redis'
import { ProductsController } from './products.controller.ts'

const { REDIS_URL } = process.env

// Without a store the cache is in the memory of this process. On Redis, all processes with this namespace share their entries.
const options = REDIS_URL ? { store: redisStore({ url: REDIS_URL, namespace: 'shop' }) } : {}

@Module({
  imports: [CattlegridModule.forRoot({ options, defaults: { cacheStatus: true } })],
  controllers: [ProductsController],
})
export class AppModule {}
