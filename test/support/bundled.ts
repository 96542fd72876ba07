import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { buildSync } from 'esbuild'

const folder = resolve(import.meta.dirname, '../../node_modules/.cache/bundled')

/**
 * Compiles a program of the tests, and returns the file for Node to run: the program's own modules in one, and packages as they are built. With a
 * loader instead, Node 20 asks another thread about each module of each package: half a second of CPU at a start of express-minimal.
 */
export function bundled(program: string): string {
  const { outputFiles } = buildSync({
    entryPoints: [program],
    outdir: folder,
    entryNames: '[name]-[hash]',
    outExtension: { '.js': '.mjs' },
    write: false,
    bundle: true,
    // What a program imports later is a file of its own.
    splitting: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Instead of the settings of the tests, which lead packages to their sources. NestJS knows the older proposal only.
    tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
  })
  mkdirSync(folder, { recursive: true })
  for (const { path, contents } of outputFiles) if (!existsSync(path)) writeWhole(path, contents)
  const name = `${basename(program, '.ts')}-`
  return outputFiles.map(({ path }) => path).find((path) => basename(path).startsWith(name)) ?? join(folder, name)
}

/** Whole or not at all: another process may read it. */
function writeWhole(path: string, contents: Uint8Array): void {
  const written = `${path}.${process.pid}`
  writeFileSync(written, contents)
  renameSync(written, path)
}
