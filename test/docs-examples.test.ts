import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
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

// Outside node_modules: there the loader would take the packages as they were built last, and not as they are.
const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-docs-'))
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
/** What the reader has at home. */
writeFileSync(join(folder, 'ranking.ts'), 'export const ranking = async () => ["first", "second"]\n')
copyFileSync(require.resolve('./docs-shop.ts'), join(folder, 'shop.ts'))
/** The packages of others; those of this repository are found by their sources. */
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
copyFileSync(require.resolve('./docs-app.ts'), join(folder, 'app.ts'))
for (const [name, code] of examples) writeFileSync(join(folder, `${name}.ts`), code)
afterAll(() => rmSync(folder, { recursive: true }))

// Each example is a process of its own.
jest.setTimeout(120_000)

/** What an example says until it ends; one that hangs is ended, and has said too little. */
async function play(name: string): Promise<string> {
  const env = { ...process.env, TSX_TSCONFIG_PATH: join(root, 'tsconfig.test.json') }
  const file = join(folder, `${name}.ts`)
  const limits = { cwd: root, env, timeout: 90_000, killSignal: 'SIGKILL' } as const
  // Since 23 Node reports its own tests in another form, unless it is asked for this one.
  const played = run(process.execPath, ['--test-reporter=tap', '--import', '@cattlegrid/run-typescript', file], limits)
  const { stdout } = await played.catch((error: unknown) => error as { readonly stdout: string })
  return stdout
}

describe('the examples of the documents', () => {
  it.each([
    ['recognise', /^Option 'ttl' is undefined; accepted: a duration/],
    ['loads-avoided', /^misses: 100, loads: 1, avoided: 99\n$/],
    ['channels', /^ranking committed\n$/],
    ['testing-off', /^loads: 2\n$/],
    ['testing-clock', /^# pass 1$/m],
    ['strict-codec', /^The codec json does not keep the value of 'user:7': value\.roles \(Set\)\. .*\nstored\n$/],
    ['own-codec', /^(cattle){3}\n$/],
  ])('say what their page says: %s', async (name, said) => {
    expect(await play(name)).toMatch(said)
  })

  it.each(['store-contract', 'adapter-contract'])('run a contract, and pass it: %s', async (name) => {
    expect(await play(name)).toMatch(/^# tests [1-9]\d+\n(?:# .*\n)*# fail 0$/m)
  })

  it.each(['store-contract', 'adapter-contract'])('show a contract in less than fifteen lines: %s', (name) => {
    expect(examples.get(name)?.trimEnd().split('\n').length).toBeLessThan(15)
  })

  it('compile', async () => {
    const settings = {
      extends: join(root, 'tsconfig.test.json'),
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')] },
      include: ['*.ts'],
    }
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
      'http-express',
      'http-fastify',
      'http-host',
      'http-session',
      'loads-avoided',
      'own-codec',
      'recognise',
      'requests',
      'store-contract',
      'strict-codec',
      'testing-clock',
      'testing-off',
    ])
  })
})
