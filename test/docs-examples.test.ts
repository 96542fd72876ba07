import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it, jest } from '@jest/globals'
import { command, compile, examples, layOutExamples, play, startPrograms } from './docs-folder.ts'
import { root } from './shown-programs.ts'
import { until } from './support/until.ts'
import { freePort } from './free-port.ts'

const folder = layOutExamples()
const servers: ChildProcess[] = []
afterAll(async () => {
  for (const server of servers) await end(server)
  rmSync(folder, { recursive: true })
})

// Each example is a process of its own.
jest.setTimeout(120_000)

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const ended = once(server, 'exit')
  server.kill('SIGKILL')
  await ended
}

/** Starts an example that listens on `PORT`, and returns its port. */
async function serve(name: string): Promise<number> {
  const port = await freePort()
  const { args, env } = command(folder, name)
  const server = spawn(process.execPath, args, { cwd: root, env: { ...env, PORT: String(port) } })
  servers.push(server)
  let said = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (text: Buffer) => (said += text.toString()))
  await until(async () => {
    if (server.exitCode !== null) throw new Error(said)
    return await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
  })
  return port
}

/** What the page counts for fifty requests at once, and what it says that it counts. */
async function herdOf(port: number): Promise<{ readonly text: string; readonly says: string }> {
  const [herd] = startPrograms.commandsBelow('See that it works')
  const line = herd?.command.replace('localhost:3000', `127.0.0.1:${port}`) ?? ''
  const { stdout } = await promisify(execFile)('sh', ['-c', line])
  return { text: stdout.trim(), says: herd?.prints ?? '' }
}

/** What an example prints, by the comments behind its lines. */
const asTheCommentsSay = (name: string): RegExp =>
  RegExp(`^${startPrograms.printedBy(name).replaceAll(/[()[\]{}.*]/g, String.raw`\$&`)}$`)

describe('the examples of the documents', () => {
  it.each([
    ['recognise', /^Option 'ttl' is undefined; accepted: a duration/],
    ['loads-avoided', /^misses: 100, loads: 1, avoided: 99\n$/],
    ['channels', /^ranking committed\n$/],
    ['testing-off', /^loads: 2\n$/],
    ['testing-clock', /^# pass 1$/m],
    ['testing-route', /^# pass 1$/m],
    ['strict-codec', /^The codec json does not keep the value of 'user:7': value\.roles \(Set\)\. .*\nstored\n$/],
    ['own-codec', /^(cattle){3}\n$/],
    ['not-found', /^null null 1\n$/],
    [
      'encryption',
      /^loaded, then read: Ada 1 Ada 0\nreadable in Redis: false\nread by both keys: Ada 0 Ada 0\nwithout the old key: Ada 1 Ada 0\nread by the new key: Ada 0 Ada 0\nafter a change of its bytes: Ada 1 Ada 0\n$/,
    ],
    ['source-limit', /^good\n$/],
    ['warm-up', /^3 queries\n$/],
    [
      'cdn',
      /^\/products\/7 .* hit; ttl=\d+ public, max-age=0, s-maxage=60 null \d+\n\/prices .*"a".* hit; .* X-Tenant \d+\n\/prices .*"b".* hit; .* X-Tenant \d+\n\/news .* hit; .* no-cache null \d+\n304\n$/,
    ],
    [
      'claims-played',
      /^page 7: rendered 1 time\nno such page: rendered 1 time\n1 built, 99 skipped: monday\nundefined, then made by the host\ntrue,false,false: 1 run\n$/,
    ],
    [
      'web-played',
      /^fifty of the handler: 1 run, \["post 2"\]\nfifty of Hono: \{"id":"7","name":"gate"\}\nthen: cattlegrid; hit; ttl=(?:29|30)\nfifty of h3: \{"id":"7","name":"gate"\}\n$/,
    ],
    ['graphql-batch', /^\[ '7 and 8', '9' \]\n$/],
    [
      'graphql',
      /^unknown: an error .*detail=private\nwhole: .*'gate'.*detail=unkeyed-url\nregistered: .*'gate'.* fwd=method\nfirst: .* stored; ttl=60\nsecond: .* hit; ttl=\d+\nposted: .* fwd=method\nme: .* fwd=method\n(?:me: .*detail=private\n){2}$/,
    ],
    ['start-function', /^\[\n(?: {2}\{ currency: 'CHF', loads: 1 \},?\n){3}\]\n$/],
    ['start-redis', /^hello\n$/],
    ['start-many', asTheCommentsSay('start-many')],
    [
      'recipes',
      /^gate gate fence\nfeed: 1 load\nmany: 1 load, gate 7, none, none, gate 7\nafter the write: 2 loads\nrates: 2 loads\npersonal: 2 loads\n$/,
    ],
  ])('say what their page says: %s', async (name, said) => {
    expect(await play(folder, name)).toMatch(said)
  })

  it.each(['store-contract', 'adapter-contract'])('run a contract, and pass it: %s', async (name) => {
    expect(await play(folder, name)).toMatch(/^# tests [1-9]\d+\n(?:# .*\n)*# fail 0$/m)
  })

  it.each(['store-contract', 'adapter-contract'])('show a contract in less than fifteen lines: %s', (name) => {
    expect(examples.get(name)?.trimEnd().split('\n').length).toBeLessThan(15)
  })

  it.each(['start-express', 'start-express.cjs', 'start-fastify', 'start-fastify.cjs', 'start-nestjs'])(
    'run the handler for the first request, and once for fifty: %s',
    async (name) => {
      const port = await serve(name)
      const statusOf = async (): Promise<string | null> =>
        (await fetch(`http://127.0.0.1:${port}/products/7`)).headers.get('cache-status')
      expect(await statusOf()).toBe('cattlegrid; fwd=uri-miss; stored; ttl=30')
      expect(await statusOf()).toMatch(/^cattlegrid; hit; ttl=(?:29|30)$/)
      const { text, says } = await herdOf(port)
      expect(text).toBe(says)
    },
  )

  it.each(['start-function', 'start-many', 'start-redis'])('say the same in CommonJS: %s', async (name) => {
    const said = await play(folder, name)
    expect(said).not.toBe('')
    expect(await play(folder, `${name}.cjs`)).toBe(said)
  })

  it('compile', async () => {
    expect(await compile(folder)).toBe('')
    expect(await compile(join(folder, 'nestjs'))).toBe('')
  })

  it('are all of these', () => {
    expect([...examples.keys()].toSorted()).toEqual([
      'adapter',
      'adapter-contract',
      'cdn-app',
      'channels',
      'claims',
      'claims-host',
      'claims-job',
      'claims-worker',
      'encrypted-codec',
      'graphql-app',
      'graphql-batch',
      'http-express',
      'http-fastify',
      'http-host',
      'http-session',
      'loads-avoided',
      'not-found',
      'own-codec',
      'recipe-feed',
      'recipe-many',
      'recipe-personal',
      'recipe-product',
      'recipe-rates',
      'recognise',
      'requests',
      'source-limit',
      'start-express',
      'start-fastify',
      'start-function',
      'start-many',
      'start-nestjs',
      'start-redis',
      'store-contract',
      'strict-codec',
      'testing-clock',
      'testing-off',
      'testing-route',
      'warm-up',
      'web-h3',
      'web-handler',
      'web-hono',
    ])
  })
})
