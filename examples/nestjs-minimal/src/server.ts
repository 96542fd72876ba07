import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { AppModule } from './app.module.ts'

const { PORT = '3000' } = process.env

const app = await NestFactory.create(AppModule)
// At SIGTERM the requests under way are finished, then the module closes its cache: running loads commit and give their leases back.
app.enableShutdownHooks(['SIGTERM'], { useProcessExit: true })
await app.listen(Number(PORT))
console.log(`http://localhost:${PORT}/products`)
