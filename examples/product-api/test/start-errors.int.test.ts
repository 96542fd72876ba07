import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { afterEach, expect, test } from '@jest/globals'
import { startChild } from '../src/child.ts'
import { startDemo, type RunningDemo } from './running-demo.ts'

let demo: RunningDemo | undefined

afterEach(() => void demo?.child.kill('SIGKILL'))

async function errorOf(env: Readonly<Record<string, string>>): Promise<string> {
  demo = startDemo(['--headless'], env)
  await demo.exited
  expect({ code: demo.child.exitCode, stdout: demo.stdout() }).toEqual({ code: 1, stdout: '' })
  return demo.stderr().trim()
}

/** A port that refuses connections. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('a process that does not start names the cause, in one line', async () => {
  await expect(startChild('./strategy-process.ts', { args: ['nonsense'] })).rejects.toThrow(
    /^strategy-process\.ts nonsense ended before it was ready \(exit code 1\): the strategy is one of unprotected, [^\n]*$/,
  )
})

test('a demo without its database names the variable, the place and the cause', async () => {
  const port = await closedPort()
  expect(await errorOf({ DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/none` })).toBe(
    `the Postgres at 127.0.0.1:${port} (DATABASE_URL) cannot be used: connect ECONNREFUSED 127.0.0.1:${port}`,
  )
})

test('a demo whose DATABASE_URL is none says how one looks', async () => {
  expect(await errorOf({ DATABASE_URL: 'localhost' })).toMatch(/^DATABASE_URL is not a URL, such as postgres:\/\//)
})

test('a demo without its Redis names the variable, the place and the cause', async () => {
  const port = await closedPort()
  const error = await errorOf({ REDIS_URL: `redis://127.0.0.1:${port}` })
  expect(error).toContain(`the Redis of REDIS_URL cannot be used: REDIS_URL is redis://127.0.0.1:${port}, and nothing`)
  expect(error).toContain(`connect ECONNREFUSED 127.0.0.1:${port}`)
})

test('a demo whose REDIS_URL leads to another server says so, and does not wait for ever', async () => {
  const other = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
  }).listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  expect(await errorOf({ REDIS_URL: `redis://127.0.0.1:${port}` })).toMatch(/^the Redis of REDIS_URL cannot be used: ./)
  other.close()
})
