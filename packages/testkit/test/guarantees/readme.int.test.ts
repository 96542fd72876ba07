import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from '@jest/globals'
import * as testkit from '@cattlegrid/testkit'

const run = promisify(execFile)
const root = resolve(__dirname, '../../../..')
const readme = readFileSync(resolve(__dirname, '../../README.md'), 'utf8')
const examples = new Map(
  [...readme.matchAll(/```ts run=([\w-]+)\n([\s\S]*?)```/g)].map(([, name = '', code = '']) => [name, code]),
)

// Outside node_modules: there the loader would load the last build of the packages instead of their sources.
const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-testkit-'))
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
afterAll(() => rmSync(folder, { recursive: true }))

describe('the README of the testkit', () => {
  test.each([
    ['store', /^# tests [1-9]\d+\n(?:# .*\n)*# fail 0$/m],
    ['expiry', /^1\n2\n$/],
    ['redis', /^loaded with Redis\nCATTLEGRID_STORE_AWAY\n$/],
  ])('has an example that prints what it promises, and ends: %s', async (name, printed) => {
    const file = join(folder, `${name}.ts`)
    writeFileSync(file, examples.get(name) ?? '')
    const env = { ...process.env, TSX_TSCONFIG_PATH: join(root, 'tsconfig.test.json') }
    const { stdout } = await run(process.execPath, ['--import', 'tsx', file], { cwd: root, env, timeout: 50_000 })
    expect(stdout).toMatch(printed)
  })

  test('lists every function that the package exports, and no other', () => {
    const listed = [...readme.matchAll(/^\| `(\w+)\(/gm)].map(([, name]) => name)
    expect(listed.toSorted()).toEqual(Object.keys(testkit).toSorted())
  })

  test('has no example that this test does not run', () => {
    expect([...examples.keys()]).toEqual(['store', 'expiry', 'redis'])
  })
})
