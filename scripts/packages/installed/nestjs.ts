import 'reflect-metadata'
import { Cached, CattlegridModule } from '@cattlegrid/nestjs'
import { Controller, Get, Module, Param } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { Herd } from './herd.js'

const herd = new Herd()

@Controller('products')
class ProductsController {
  @Get(':id')
  @Cached({ ttl: '30s' })
  find(@Param('id') id: string): Promise<{ id: string; run: number }> {
    return herd.run(id)
  }
}

@Module({ imports: [CattlegridModule.forRoot()], controllers: [ProductsController] })
class AppModule {}

/** A Nest app, on the platform that is installed, whose route is cached. */
export async function check(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error'], forceCloseConnections: true })
  app.use((_req: unknown, _res: unknown, next: () => void) => {
    herd.arrive()
    next()
  })
  await app.listen(0, '127.0.0.1')
  try {
    await herd.visit(await app.getUrl())
  } finally {
    await app.close()
  }
}
