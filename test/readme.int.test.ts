import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from '@jest/globals'
import { until } from './support/until.ts'
import { freePort } from './free-port.ts'

const root = resolve(__dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const examples = new Map(
  [...readme.matchAll(/```ts run=(\w+)\n([\s\S]*?)```/g)].map(([, name = '', code = '']) => [name, code]),
)

// Inside the repository, so that the examples find the packages as their users do: by name.
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'readme-'))
const children: ChildProcess[] = []

afterAll(async () => {
  await Promise.all(children.map(end))
  rmSync(folder, { recursive: true })
})

writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
/** The module that the examples take for granted: what the reader has at home, counted. */
writeFileSync(join(folder, 'ranking.js'), 'let loads = 0\nexport const ranking = async () => ({ loads: ++loads })\n')

function run(name: string, port: number): { readonly child: ChildProcess; readonly output: () => string } {
  const code = examples.get(name)
  if (code === undefined) throw new Error(`README.md has no example named ${name}`)
  const file = join(folder, `${name}.ts`)
  writeFileSync(file, code)
  const env = { ...process.env, PORT: String(port), REDIS_URL: process.env['CATTLEGRID_TEST_REDIS_URL'] }
  const child = spawn(process.execPath, ['--import', '@cattlegrid/run-typescript', file], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return { child, output: () => text }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

describe('the examples of the README', () => {
  it.each(['express', 'fastify'])(
    'serve a route from the cache: %s',
    async (name) => {
      const port = await freePort()
      const { child, output } = run(name, port)
      const answers: string[] = []
      await until(async () => {
        if (child.exitCode !== null) throw new Error(output())
        const response = await fetch(`http://127.0.0.1:${port}/ranking`).catch(() => undefined)
        if (response !== undefined) answers.push(await response.text())
        return answers.length === 3
      })
      expect(answers).toEqual(['{"loads":1}', '{"loads":1}', '{"loads":1}'])
    },
    30_000,
  )

  it('run the handler once for fifty requests at once, as the command beside them counts', async () => {
    const port = await freePort()
    const { child, output } = run('express', port)
    await until(async () => {
      if (child.exitCode !== null) throw new Error(output())
      return await fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      )
    })
    const [herd = ''] = /^seq 50 .*$/m.exec(readme) ?? []
    const { stdout } = await promisify(execFile)('sh', ['-c', herd.replace('localhost:3000', `127.0.0.1:${port}`)])
    expect(stdout).toBe('1\n')
  }, 30_000)

  it.each([
    ['function', '{ loads: 1 } { loads: 1 }\n'],
    ['method', "{ id: '7', ranking: { loads: 1 } } { id: '7', ranking: { loads: 1 } }\n"],
    ['redis', '{ loads: 1 }\n'],
  ])(
    'print what was loaded once: %s',
    async (name, expected) => {
      const { child, output } = run(name, 0)
      await once(child, 'exit')
      expect(output()).toBe(expected)
    },
    30_000,
  )

  it('import only ranking.js and what the install lines name', () => {
    const installed = [...readme.matchAll(/`npm install (.*?)`/g)].flatMap(([, names = '']) => names.split(' '))
    const given = [...installed, '@cattlegrid/core/decorator', 'express', 'fastify', './ranking.js']
    const imported = [...examples.values()].flatMap((code) => [...code.matchAll(/ from '(.*?)'/g)])
    expect(imported.length).toBeGreaterThan(10)
    expect(imported.map(([, name = '']) => name).filter((name) => !given.includes(name))).toEqual([])
  })

  it('can be tried with the ranking.js that the README shows', () => {
    const [, ranking] = /`(export const ranking = .*)`/.exec(readme) ?? []
    const script = `${ranking}\nconsole.log(await ranking())`
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })).toBe(
      "[ 'gate' ]\n",
    )
  })

  it('are each shorter than ten lines of code', () => {
    expect(examples.size).toBe(5)
    for (const [name, code] of examples) {
      const lines = code.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('import '))
      expect(`${name} ${lines.length < 10}`).toBe(`${name} true`)
    }
  })
})
