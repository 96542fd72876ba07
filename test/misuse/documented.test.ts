import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from '@jest/globals'

const root = resolve(__dirname, '../..')

/** The sources of all packages. */
function sources(): readonly string[] {
  const packages = join(root, 'packages')
  const files = readdirSync(packages).flatMap((name) => {
    const folder = join(packages, name, 'src')
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file))
  })
  return files.filter((file) => file.endsWith('.ts')).map((file) => readFileSync(file, 'utf8'))
}

test('docs/errors.md has a row or a heading for every code', () => {
  const page = readFileSync(join(root, 'docs/errors.md'), 'utf8')
  const codes = sources().flatMap((source) => [...source.matchAll(/'(CATTLEGRID_[A-Z_]+)'/g)].map(([, code]) => code))
  expect(new Set(codes).size).toBeGreaterThan(20)
  expect([...new Set(codes)].filter((code) => !page.includes(`\`${code}\``))).toEqual([])
})
