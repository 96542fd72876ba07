import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from '@jest/globals'
import { type RedisServer, startRedis } from '@cattlegrid/testkit'

const started: RedisServer[] = []

async function start(...args: Parameters<typeof startRedis>): Promise<RedisServer> {
  const server = await startRedis(...args)
  started.push(server)
  return server
}

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill()))
})

/** The reply of the server at `port` to a PING; `silence` after `patience` ms without one, or the code of the error. */
async function ping(port: number, patience = 5000): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write('PING\r\n')
  const said = once(socket, 'data').then(([chunk]) => String(chunk).trim())
  const silence = new Promise<string>((resolve) => setTimeout(resolve, patience, 'silence').unref())
  try {
    return await Promise.race([said, silence])
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code)
  } finally {
    socket.destroy()
  }
}

async function gone(port: number): Promise<boolean> {
  for (let look = 0; look < 500; look += 1) {
    if ((await ping(port)) === 'ECONNREFUSED') return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}

describe('a server that startRedis starts', () => {
  test('answers at its url until it is stopped', async () => {
    const { url, port, pid, stop } = await start({ own: true })
    expect([url, typeof pid]).toEqual([`redis://127.0.0.1:${port}`, 'number'])
    expect(await ping(port)).toBe('+PONG')
    await stop()
    expect(await ping(port)).toBe('ECONNREFUSED')
    await stop()
  })

  test('answers nothing while it is paused, accepts connections all the same, and can be stopped', async () => {
    const server = await start({ own: true })
    server.pause()
    expect(await ping(server.port, 100)).toBe('silence')
    server.resume()
    expect(await ping(server.port)).toBe('+PONG')
    server.pause()
    await server.stop()
    expect(await ping(server.port)).toBe('ECONNREFUSED')
  })

  test('can be started again on the port of one that was killed', async () => {
    const first = await start({ own: true })
    await first.kill()
    const second = await start({ port: first.port })
    expect([second.port, await ping(second.port)]).toEqual([first.port, '+PONG'])
  })

  test('takes arguments, and its error names the argument that the server rejects', async () => {
    expect(await ping((await start({ args: ['--requirepass', 'secret'] })).port)).toMatch(/^-NOAUTH/)
    await expect(startRedis({ port: 1, args: ['--no-such-option', 'x'] })).rejects.toThrow('no-such-option')
  })

  test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    'ends when %s ends the process that started it',
    async (signal) => {
      const root = join(__dirname, '../../..')
      const child = spawn(
        process.execPath,
        ['--import', '@cattlegrid/run-typescript', join(__dirname, 'support/redis-starter.ts')],
        {
          cwd: root,
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      const exited = once(child, 'exit')
      const [said] = (await once(child.stdout, 'data')) as [Buffer]
      const port = Number(said.toString())
      expect(await ping(port)).toBe('+PONG')
      child.kill(signal)
      await exited
      expect(await gone(port)).toBe(true)
    },
  )
})

describe('a server that REDIS_URL names', () => {
  test('is used as it is and left alone, unless a test needs its own', async () => {
    const { port, url } = await start({ own: true })
    process.env['REDIS_URL'] = url
    try {
      const shared = await startRedis()
      expect([shared.url, shared.port, shared.pid]).toEqual([url, port, undefined])
      expect(() => shared.pause()).toThrow('own: true')
      await shared.stop()
      expect(await ping(port)).toBe('+PONG')
      expect((await start({ own: true })).port).not.toBe(port)
      process.env['REDIS_URL'] = 'redis://127.0.0.1:1'
      await expect(startRedis()).rejects.toThrow('nothing answers there')
    } finally {
      delete process.env['REDIS_URL']
    }
  })
})
