import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { type Block, blocksOf, compile, docExamplesOf, documents, settle } from './docs-folder.ts'
import { claimsGiven } from './docs-recipes.ts'
import { root } from './shown-programs.ts'

const readmes = ['README.md', ...readdirSync(join(root, 'packages')).map((name) => `packages/${name}/README.md`)]
/** The migrations are whole files of examples/, which has tests of its own. Those that end by SIGTERM are played in test/faults. */
const sources = readdirSync(join(root, 'packages'), { recursive: true, encoding: 'utf8' })
  .filter((name) => /^\w+\/src\/.*\.ts$/.test(name))
  .map((name) => `packages/${name}`)
const blocks = [...documents, ...readmes]
  .filter((page) => page !== 'docs/migrations.md')
  .flatMap(blocksOf)
  .concat(sources.flatMap(docExamplesOf))
  .filter(({ label }) => !/^(?:run=http|run=.*contract|sigterm=)/.test(label))
/** The lines of the adapter for Koa, whose methods docs/writing-an-adapter.md shows one by one: its own tests run them. */
const koaLines = new Set(
  readdirSync(join(root, 'examples/koa-adapter/src'))
    .flatMap((name) => readFileSync(join(root, 'examples/koa-adapter/src', name), 'utf8').split('\n'))
    .map((line) => line.trim()),
)
const ofKoa = ({ code }: Block): boolean => code.split('\n').every((line) => koaLines.has(line.trim()))
const ofNest = ({ code, page }: Block): boolean =>
  page.startsWith('packages/nestjs/src/') || /@nestjs|CattlegridModule|@Resolver/.test(code)

const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-excerpts-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A folder in which each block is a module, under the name in its first line or that of its page. */
function layOut(name: string, chosen: readonly Block[], settings: string, compilerOptions: object = {}): string {
  const place = join(folder, name)
  mkdirSync(place)
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(place, 'ranking.ts'), 'export const ranking = async () => ["first", "second"]\n')
  writeFileSync(join(place, 'product.ts'), 'export const product = async (id: string) => ({ id })\n')
  for (const [file, code] of Object.entries(claimsGiven)) writeFileSync(join(place, file), code)
  for (const given of ['given.d.ts', 'app.ts', 'catalogue.ts'])
    copyFileSync(join(__dirname, `docs-${given}`), join(place, given))
  for (const [index, { page, code }] of chosen.entries()) {
    const [, own] = /^\/\/ ([\w.-]+\.ts)\n/.exec(code) ?? []
    writeFileSync(join(place, own ?? `${page.replaceAll(/\W/g, '-')}-${index}.ts`), `${code}\nexport {}\n`)
  }
  settle(place, settings, { noPropertyAccessFromIndexSignature: false, erasableSyntaxOnly: false, ...compilerOptions })
  return place
}

test('what the documents and the doc comments show in TypeScript compiles, for a reader who has what they take for granted', async () => {
  const nest = blocks.filter(ofNest)
  const others = blocks.filter((block) => !nest.includes(block) && !ofKoa(block))
  expect(nest.length).toBeGreaterThan(4)
  expect(others.length).toBeGreaterThan(30)
  // Nest's own projects are bundled, or CommonJS: their imports name no extension.
  const bundled = { module: 'preserve', moduleResolution: 'bundler' }
  expect(await compile(layOut('nestjs', nest, 'packages/nestjs/test/tsconfig.json', bundled))).toBe('')
  expect(await compile(layOut('others', others, 'tsconfig.test.json'))).toBe('')
})
