import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from '@jest/globals'

const run = promisify(execFile)
const root = resolve(__dirname, '../../..')
const readme = readFileSync(resolve(__dirname, '../README.md'), 'utf8')
const examples = new Map(
  [...readme.matchAll(/```ts run=([\w-]+)\n([\s\S]*?)```/g)].map(([, name = '', code = '']) => [name, code]),
)

// Outside node_modules: there the loader would take the packages as they were built last, and not as they are.
const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-testkit-'))
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
afterAll(() => rmSync(folder, { recursive: true }))

describe('the examples of the testkit', () => {
  test.each([
    ['fault-proxy', 'loaded without Redis\nCATTLEGRID_STORE_AWAY\n'],
    ['faulty-store', 'first\nloaded without a store CATTLEGRID_STORE_AWAY\n1\n'],
  ])('say what they promise, and end by themselves: %s', async (name, said) => {
    const file = join(folder, `${name}.ts`)
    writeFileSync(file, examples.get(name) ?? '')
    const env = { ...process.env, TSX_TSCONFIG_PATH: join(root, 'tsconfig.test.json') }
    const { stdout } = await run(process.execPath, ['--import', 'tsx', file], { cwd: root, env, timeout: 50_000 })
    expect(stdout).toBe(said)
  })
})
