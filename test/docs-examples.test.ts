import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it, jest } from '@jest/globals'

const run = promisify(execFile)
const root = resolve(__dirname, '..')
const pages = join(root, 'docs')
const examples = new Map<string, string>(
  readdirSync(pages)
    .filter((page) => page.endsWith('.md'))
    .flatMap((page) => [...readFileSync(join(pages, page), 'utf8').matchAll(/```ts run=([\w-]+)\n([\s\S]*?)```/g)])
    .map(([, name = '', code = '']): [string, string] => [name, code]),
)

// Inside the repository, where the packages go by their published names; the settings of the tests map those to the sources.
const cache = join(root, 'node_modules/.cache')
mkdirSync(cache, { recursive: true })
const folder = mkdtempSync(join(cache, 'docs-'))
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
/** What the reader has at home. */
writeFileSync(join(folder, 'ranking.ts'), 'export const ranking = async () => ["first", "second"]\n')
copyFileSync(require.resolve('./docs-app.ts'), join(folder, 'app.ts'))
for (const [name, code] of examples) writeFileSync(join(folder, `${name}.ts`), code)
afterAll(() => rmSync(folder, { recursive: true }))

// Each example is a process of its own.
jest.setTimeout(60_000)

async function play(name: string, ...flags: readonly string[]): Promise<string> {
  const env = { ...process.env, TSX_TSCONFIG_PATH: join(root, 'tsconfig.test.json') }
  const { stdout } = await run(process.execPath, ['--import', 'tsx', ...flags, join(folder, `${name}.ts`)], { env })
  return stdout
}

describe('the examples of the documents', () => {
  it.each([
    ['recognise', /^Option 'ttl' is undefined; accepted: a duration/],
    ['loads-avoided', /^misses: 100, loads: 1, avoided: 99\n$/],
    ['channels', /^ranking committed\n$/],
  ])('say what their page says: %s', async (name, said) => {
    expect(await play(name)).toMatch(said)
  })

  it.each(['store-contract', 'adapter-contract'])('run a contract, and pass it: %s', async (name) => {
    expect(await play(name, '--test')).toMatch(/^# tests [1-9]\d+\n(?:# .*\n)*# fail 0$/m)
  })

  it.each(['store-contract', 'adapter-contract'])('show a contract in less than fifteen lines: %s', (name) => {
    expect(examples.get(name)?.trimEnd().split('\n').length).toBeLessThan(15)
  })

  it('compile', async () => {
    const settings = { extends: '../../../tsconfig.test.json', include: ['*.ts'] }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(settings))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const faults = await run(process.execPath, [compiler, '-p', folder]).catch((error: unknown) => error)
    expect(faults).toMatchObject({ stdout: '' })
  })

  it('are all of these', () => {
    expect([...examples.keys()].toSorted()).toEqual([
      'adapter',
      'adapter-contract',
      'channels',
      'loads-avoided',
      'recognise',
      'store-contract',
    ])
  })
})
