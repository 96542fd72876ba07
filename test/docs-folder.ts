import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import {
  cdnPlayed,
  claimsGiven,
  claimsPlayed,
  encryptionPlayed,
  graphqlPlayed,
  recipesPlayed,
  webPlayed,
} from './docs-recipes.ts'
import { root, ShownPrograms } from './shown-programs.ts'
import { bundled } from './support/bundled.ts'

const run = promisify(execFile)
const pages = join(root, 'docs')

/** A piece of code that a document shows, with what stands behind `ts` in the first line of its fence. */
export interface Block {
  readonly page: string
  readonly label: string
  readonly code: string
}

/** The TypeScript of a document. */
export function blocksOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^```ts ?(.*)\n([\s\S]*?)^```/gm)].map(([, label = '', code = '']) => ({
    page,
    label,
    code,
  }))
}

/** The examples in the doc comments of a source file. */
export function docExamplesOf(page: string): Block[] {
  const text = readFileSync(join(root, page), 'utf8')
  return [...text.matchAll(/^ *\* @example\n((?: *\*(?: .*)?\n)*?)(?= *\*(?: @\w+|\/))/gm)].map(([, lines = '']) => ({
    page,
    label: '',
    code: lines.replaceAll(/^ *\* ?/gm, ''),
  }))
}

export const documents = readdirSync(pages)
  .filter((page) => page.endsWith('.md'))
  .map((page) => join('docs', page))

/** The examples of docs/ that a test runs: the code of each under its name. */
export const examples: ReadonlyMap<string, string> = new Map(
  documents
    .flatMap(blocksOf)
    .filter(({ label }) => label.startsWith('run='))
    .map(({ label, code }): [string, string] => [label.slice('run='.length), code]),
)

/** The programs of the page from which readers start: also in CommonJS. */
export const startPrograms = new ShownPrograms('docs/getting-started.md')

/** NestJS knows the older proposal of decorators only, so its examples are compiled apart. */
const folderOf = (name: string): 'nestjs' | '.' => (name.includes('nestjs') ? 'nestjs' : '.')

/** A folder with the examples, and what their reader has at home. */
export function layOutExamples(): string {
  // Outside node_modules: there the loader would take the packages as they were built last, and not as they are.
  const folder = mkdtempSync(join(tmpdir(), 'cattlegrid-docs-'))
  mkdirSync(join(folder, 'nestjs'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'ranking.ts'), 'export const ranking = async () => ["first", "second"]\n')
  copyFileSync(require.resolve('./docs-shop.ts'), join(folder, 'shop.ts'))
  copyFileSync(require.resolve('./docs-app.ts'), join(folder, 'app.ts'))
  copyFileSync(require.resolve('./docs-catalogue.ts'), join(folder, 'catalogue.ts'))
  writeFileSync(join(folder, 'recipes.ts'), recipesPlayed)
  writeFileSync(join(folder, 'encryption.ts'), encryptionPlayed)
  writeFileSync(join(folder, 'graphql.ts'), graphqlPlayed)
  writeFileSync(join(folder, 'cdn.ts'), cdnPlayed)
  writeFileSync(join(folder, 'claims-played.ts'), claimsPlayed)
  writeFileSync(join(folder, 'web-played.ts'), webPlayed)
  for (const [file, code] of Object.entries(claimsGiven)) writeFileSync(join(folder, file), code)
  // The packages of others; those of this repository are found by their sources.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const [name, code] of examples) writeFileSync(join(folder, folderOf(name), `${name}.ts`), code)
  for (const name of startPrograms.names('cjs'))
    writeFileSync(join(folder, `${name}.cjs`), startPrograms.commonJs(name))
  settle(folder, 'tsconfig.test.json')
  settle(join(folder, 'nestjs'), 'packages/nestjs/test/tsconfig.json')
  return folder
}

/** Gives a folder the compiler's settings of this repository. */
export function settle(folder: string, settings: string, compilerOptions: object = {}): void {
  const own = { typeRoots: [join(root, 'node_modules/@types')], ...compilerOptions }
  const text = JSON.stringify({ extends: join(root, settings), compilerOptions: own, include: ['*.ts'], exclude: [] })
  writeFileSync(join(folder, 'tsconfig.json'), text)
}

/** What the compiler says of the TypeScript in a folder: nothing, where all is well. */
export async function compile(folder: string): Promise<string> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const compiled = run(process.execPath, [compiler, '-p', folder])
  const { stdout } = await compiled.catch((error: unknown) => error as { readonly stdout: string })
  return stdout
}

/** The arguments and the environment with which Node runs an example, or with `.cjs` behind its name its CommonJS form. */
export function command(folder: string, name: string): { readonly args: string[]; readonly env: NodeJS.ProcessEnv } {
  const file = name.endsWith('.cjs') ? join(folder, name) : bundled(join(folder, folderOf(name), `${name}.ts`))
  return {
    // Since 23 Node reports its own tests in another form, unless it is asked for this one.
    args: ['--test-reporter=tap', file],
    env: { ...process.env, REDIS_URL: process.env['CATTLEGRID_TEST_REDIS_URL'] ?? '' },
  }
}

/** What an example says until it ends; one that hangs is ended, and has said too little. */
export async function play(folder: string, name: string): Promise<string> {
  const { args, env } = command(folder, name)
  const played = run(process.execPath, args, { cwd: root, env, timeout: 90_000, killSignal: 'SIGKILL' })
  const { stdout } = await played.catch((error: unknown) => error as { readonly stdout: string })
  return stdout
}
