import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, describe, expect, it } from '@jest/globals'
import { freePort } from './free-port.ts'
import { type Command, root, ShownPrograms } from './shown-programs.ts'
import { bundled } from './support/bundled.ts'
import { until } from './support/until.ts'

const readme = new ShownPrograms('README.md')

// Inside the repository, so that the programs find the packages as their users do: by name, as they are built.
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'readme-'))
const children: ChildProcess[] = []

afterEach(async () => {
  await Promise.all(children.splice(0).map(end))
})
afterAll(() => rmSync(folder, { recursive: true }))

interface Running {
  readonly child: ChildProcess
  output(): string
}

function write(name: string, code: string): string {
  const file = join(folder, name)
  writeFileSync(file, code)
  return file
}

function run(args: readonly string[], port = 0): Running {
  const env = { ...process.env, PORT: String(port), REDIS_URL: process.env['CATTLEGRID_TEST_REDIS_URL'] }
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { child, output: () => text }
}

/** Starts a server, and waits until it listens. */
async function serve(...args: string[]): Promise<number> {
  const port = await freePort()
  const { child, output } = run(args, port)
  await until(async () => {
    if (child.exitCode !== null) throw new Error(output())
    return await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
  })
  return port
}

/** What a program prints until it ends. */
async function printed(...args: string[]): Promise<string> {
  const { child, output } = run(args)
  await once(child, 'exit')
  return output()
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

async function shell(command: string): Promise<string> {
  const { stdout } = await promisify(execFile)('sh', ['-c', command])
  return stdout
}

/** What commands print for the servers on these ports, with the process and the rest of the `ttl` that the README shows. */
async function printedFor(commands: readonly Command[], first: number, second = first): Promise<string[]> {
  const texts: string[] = []
  for (const { command } of commands) {
    const here = command.replace('3001 3002', `${first} ${second}`).replace('localhost:3000', `localhost:${first}`)
    const text = await shell(here.replace('localhost', '127.0.0.1'))
    const [status = text.trim()] = /^cache-status: .*$/im.exec(text)?.map((line) => line.trim()) ?? []
    texts.push(status.replace(/"pid":\d+/, '"pid":4711').replace('ttl=30', 'ttl=29'))
  }
  return texts
}

/** What the README says that they print. */
const said = (commands: readonly Command[]): string[] => commands.map(({ prints }) => prints)

const proof = readme.commandsBelow('See that it works')

describe('the programs of the README', () => {
  it.each(['first', 'function', 'redis'])('print what their comments say: %s', async (name) => {
    expect(readme.printedBy(name)).not.toBe('')
    expect(await printed(write(`${name}.mjs`, readme.modules(name)))).toBe(readme.printedBy(name))
  })

  it.each([
    ['first', 'function'],
    ['function', 'function'],
    ['redis', 'redis'],
  ])('print the same in CommonJS: %s', async (name, imports) => {
    const file = write(`${name}.cjs`, readme.commonJs(imports, readme.modules(name)))
    expect(await printed(file)).toBe(readme.printedBy(name))
  })

  it('print what the comment says, where a decorator needs TypeScript', async () => {
    const file = write('method.ts', readme.modules('method'))
    expect(await printed('--import', '@cattlegrid/run-typescript', file)).toBe(readme.printedBy('method'))
  })

  it.each([
    ['test.mjs', readme.modules('test')],
    ['test.cjs', readme.commonJs('test')],
  ])('pass as a test: %s', async (name, code) => {
    expect(await printed('--test-reporter=tap', write(name, code))).toMatch(/^# pass 1\n# fail 0$/m)
  })

  it.each([
    ['express.mjs', readme.modules('express')],
    ['express.cjs', readme.commonJs('express')],
    ['fastify.mjs', readme.modules('fastify')],
    ['fastify.cjs', readme.commonJs('fastify')],
  ])('run a handler as often as the commands beside them count: %s', async (name, code) => {
    expect(await printedFor(proof, await serve(write(name, code)))).toEqual(said(proof))
  })

  it('run a handler as often as that below the middleware that the README asks for', async () => {
    const outside = `import compression from 'compression'
import cors from 'cors'
import session from 'express-session'
app.use(cors(), compression({ threshold: 0 }), session({ secret: 'a', resave: false, saveUninitialized: false }))
`
    const code = readme.modules('express').replace('let runs', (line) => outside + line)
    expect(await printedFor(proof, await serve(write('layers.mjs', code)))).toEqual(said(proof))
  })

  it('run a handler of NestJS as often as that', async () => {
    write('app.module.ts', readme.modules('nestjs'))
    const main = write(
      'main.ts',
      "import { NestFactory } from '@nestjs/core'\nimport { AppModule } from './app.module.ts'\n" +
        'const app = await NestFactory.create(AppModule)\nawait app.listen(process.env.PORT ?? 3000)\n',
    )
    expect(await printedFor(proof, await serve(bundled(main)))).toEqual(said(proof))
  })

  it('make one load for two processes that share a Redis', async () => {
    const [, shared = ''] = /^(const url = [\s\S]*?)^await cache\.ready/m.exec(readme.modules('redis')) ?? []
    const program =
      "import { redisStore } from '@cattlegrid/redis'\n" +
      readme
        .modules('express')
        .replace('const cache = createCache()\n', shared.replace("'shop'", "'readme-two'"))
        .replace('cacheStatus: true', 'cacheStatus: true, key: { host: false }')
    const file = write('shared.mjs', program)
    const commands = readme.commandsBelow('Many processes')
    expect(await printedFor(commands, await serve(file), await serve(file))).toEqual(said(commands))
  })

  const observed = readme.modules('express').replace('app.put(', (route) => readme.modules('metrics') + route)
  it.each([
    ['metrics.mjs', observed],
    ['metrics.cjs', `${readme.requires('metrics')}${readme.commonJs('express', observed)}`],
  ])('show the loads that were avoided: %s', async (name, code) => {
    const port = await serve(write(name, code))
    for (const _ of [1, 2, 3]) await (await fetch(`http://127.0.0.1:${port}/ranking`)).text()
    const [, command = ''] = /^`(curl -s localhost:3000\/metrics .*?)`/m.exec(readme.text) ?? []
    expect(await shell(command.replace('localhost:3000', `127.0.0.1:${port}`))).toMatch(
      /^cattlegrid_avoided_loads_total\{.*by="entry".*\} 2$/m,
    )
  })

  it('import only what the install lines name', () => {
    const installed = [...readme.text.matchAll(/`npm install (.*?)`/g)].flatMap(([, names = '']) => names.split(' '))
    const given = [...installed, '@nestjs/common']
    const codes = [
      ...readme.names('run').map((name) => readme.modules(name)),
      ...readme.names('cjs').map((name) => readme.requires(name)),
    ]
    const imported = codes.flatMap((code) => [...code.matchAll(/(?: from |require\()'(.*?)'/g)])
    expect(imported.length).toBeGreaterThan(30)
    const packages = imported.map(([, name = '']) => /^(?:node:.*|@[\w-]+\/[\w-]+|[\w-]+)/.exec(name)?.[0] ?? name)
    expect(packages.filter((name) => !name.startsWith('node:') && !given.includes(name))).toEqual([])
  })

  it('are each shorter than twenty-five lines of code, the first than eight', () => {
    const lines = (name: string): number =>
      readme
        .modules(name)
        .split('\n')
        .filter((line) => line.trim() !== '').length
    const names = readme.names('run')
    expect(names.length).toBe(9)
    expect(names.filter((name) => lines(name) >= 25)).toEqual([])
    expect(lines('first')).toBeLessThan(8)
  })
})
