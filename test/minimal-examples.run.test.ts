import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'
import request from 'supertest'
import { until } from './support/until.ts'
import { freePort } from './free-port.ts'
import { bundled } from './support/bundled.ts'

interface Server {
  readonly child: ChildProcess
  readonly url: string
  handlerRuns(): number
}

const children: ChildProcess[] = []
let redis: RedisServer | undefined

afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => end(child, 'SIGKILL')))
  await redis?.stop()
  redis = undefined
})

function folderOf(example: string): string {
  return resolve(__dirname, '../examples', example)
}

/** As `npm start` does. */
const AS_A_READER = ['--import', 'tsx', 'src/server.ts']

/** Starts an example, and waits until it listens. */
async function start(example: string, redisUrl = '', args?: readonly string[]): Promise<Server> {
  const port = await freePort()
  const child = spawn(process.execPath, args ?? [bundled(join(folderOf(example), 'src/server.ts'))], {
    cwd: folderOf(example),
    env: { ...process.env, PORT: String(port), REDIS_URL: redisUrl },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  await until(() => {
    if (child.exitCode !== null) throw new Error(output)
    return output.includes(`http://localhost:${port}/products`)
  })
  return {
    child,
    url: `http://localhost:${port}`,
    handlerRuns: () => output.split('reading the products').length - 1,
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, 'exit')
    child.kill(signal)
    await exited
  }
  return child.exitCode
}

interface Answer {
  readonly price: number | undefined
  readonly cacheStatus: string
}

/** What the guard of nestjs-minimal asks for. */
const MEMBER = ['x-member-key', 'gate-7'] as const

/** One name for all processes, as behind a load balancer: the host is part of the key. */
async function get({ url }: Server, path = '/products'): Promise<Answer> {
  const { body, headers } = await request(url)
    .get(path)
    .set('host', 'shop.example')
    .set(...MEMBER)
    .expect(200)
  return { price: body[0]?.price, cacheStatus: headers['cache-status'] ?? '' }
}

describe.each(['express-minimal', 'fastify-minimal', 'h3-minimal', 'hono-minimal', 'nestjs-minimal'])(
  'examples/%s',
  (example) => {
    it('runs its handler once for two requests at once, and not at all for a later one', async () => {
      const server = await start(example, '', AS_A_READER)
      const both = await Promise.all([get(server), get(server)])
      expect(both.map(({ price }) => price)).toEqual([1999, 1999])
      expect(both.map(({ cacheStatus }) => cacheStatus).toSorted()).toEqual([
        expect.stringMatching(/^cattlegrid; fwd=uri-miss; collapsed; ttl=\d+$/),
        expect.stringMatching(/^cattlegrid; fwd=uri-miss; stored; ttl=\d+$/),
      ])
      expect(await get(server)).toEqual({
        price: 1999,
        cacheStatus: expect.stringMatching(/^cattlegrid; hit; ttl=\d+$/),
      })
      expect(server.handlerRuns()).toBe(1)
    })

    it('shows what a write has changed to the next request', async () => {
      const server = await start(example)
      await get(server)
      await request(server.url)
        .post('/price-rise')
        .set(...MEMBER)
        .expect(204)
      expect(await get(server)).toEqual({ price: 2099, cacheStatus: expect.stringContaining('; fwd=') })
      expect(server.handlerRuns()).toBe(2)
    })

    it('with REDIS_URL runs its handler once for two requests to two processes at once', async () => {
      redis = await startRedis({ own: true })
      const one = await start(example, redis.url)
      const other = await start(example, redis.url)
      // Each works on its own until it has reached Redis: then what one has stored is a hit in the other.
      let page = 0
      await until(async () => {
        page += 1
        await get(one, `/products?page=${page}`)
        return (await get(other, `/products?page=${page}`)).cacheStatus.includes('; hit;')
      })
      const runsBefore = one.handlerRuns() + other.handlerRuns()
      await Promise.all([get(one), get(other)])
      expect(one.handlerRuns() + other.handlerRuns() - runsBefore).toBe(1)
    })

    it('finishes the request under way at SIGTERM, and ends with 0', async () => {
      const server = await start(example)
      const underWay = get(server)
      await until(() => server.handlerRuns() === 1)
      expect(await Promise.all([underWay, end(server.child, 'SIGTERM')])).toEqual([
        { price: 1999, cacheStatus: expect.stringContaining('; stored;') },
        0,
      ])
    })
  },
)

const PLAIN = ['express-minimal', 'fastify-minimal', 'h3-minimal', 'hono-minimal']

it.each(PLAIN)('examples/%s is JavaScript as well, as its README says', (example) => {
  const folder = mkdtempSync(join(tmpdir(), 'minimal-'))
  const file = join(folder, 'server.mjs')
  copyFileSync(join(folderOf(example), 'src/server.ts'), file)
  const { status } = spawnSync(process.execPath, ['--check', file])
  rmSync(folder, { recursive: true })
  expect(status).toBe(0)
})

it('examples/nestjs-minimal refuses a stranger while its entry is fresh', async () => {
  const server = await start('nestjs-minimal')
  await get(server)
  await request(server.url).get('/products').set('host', 'shop.example').expect(401)
  expect(await get(server)).toMatchObject({ cacheStatus: expect.stringContaining('; hit;') })
})
