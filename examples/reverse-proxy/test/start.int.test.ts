import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { ask } from './raw-client.ts'
import { ScriptedOrigin } from './scripted-origin.ts'

const origin = new ScriptedOrigin()
let proxy: ChildProcess
let port = 0

beforeAll(async () => {
  const url = await origin.listen()
  proxy = spawn(process.execPath, ['--import', '@cattlegrid/run-typescript', 'src/start.ts'], {
    cwd: resolve(__dirname, '..'),
    env: { ...process.env, ORIGIN: url.href, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const text of proxy.stdout?.setEncoding('utf8') ?? []) {
    said += String(text)
    if (said.includes(' in front of ')) break
  }
  port = Number(/127\.0\.0\.1:(\d+) in front/.exec(said)?.[1])
})

afterAll(async () => {
  if (proxy.exitCode === null) proxy.kill('SIGKILL')
  await origin.close()
})

test('a process of the proxy asks the origin once for all who come at once, and ends when it is told to', async () => {
  origin.script('/', [{ fields: { 'Cache-Control': 'max-age=60' }, body: 'one' }])
  const crowd = await Promise.all(Array.from({ length: 20 }, () => ask(port, '/')))
  expect(crowd.map(({ status, body }) => [status, body])).toEqual(crowd.map(() => [200, 'one']))
  expect((await ask(port, '/')).hit).toBe(true)
  expect(origin.arrived('/')).toHaveLength(1)
  const ended = once(proxy, 'exit')
  proxy.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})
