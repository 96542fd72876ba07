// What a user's bundle and start pay: compressed sizes, and the time that imports take.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { type BenchOptions, runBench } from './run/bench.ts'
import type { Findings, Row, Table } from './run/result.ts'
import { figureOf, interleave } from './run/rounds.ts'
import { lineColumns, lineRow, sourceLines, sumOf } from './run/source-lines.ts'

const FOLDER = fileURLToPath(new URL('..', import.meta.url))
const manifest = createRequire(import.meta.url)('@cattlegrid/core/package.json') as {
  readonly dependencies: Readonly<Record<string, string>>
}
const MOST_CORE = 26_000
/** Packages that were to have so many lines of source at most, together. */
const WEIGHED = [
  { id: 'lines', title: 'the engine', packages: ['core', 'redis', 'explain', 'cli'], most: 16_000 },
  { id: 'lines-http', title: 'HTTP over Node', packages: ['http', 'express', 'fastify', 'nestjs'], most: 9_000 },
  { id: 'lines-web', title: 'HTTP over fetch', packages: ['web'], most: 1_200 },
]
/** The modules of core, by what they are there for; the first that fits. */
const PARTS: Readonly<Record<string, RegExp>> = {
  'flights, leases, waiting, cooldowns': /^(?:batch|lookup|refresh|flight|policy)\//,
  'a shared store: deadlines, outages, copies, tags': /^store\/remote\//,
  'the memory store, and what copies share with it': /^(?:store\/|maps\/)/,
  'options, errors, events, the public face': /./,
}
const CORE = '@cattlegrid/core'
const BESIDE_CORE = ['redis', 'http', 'express', 'fastify'].map((name) => `@cattlegrid/${name}`)
const PEERS = [
  'bentocache',
  'async-cache-dedupe',
  'cacheable',
  'cache-manager',
  '@epic-web/cachified',
  'layered-loader',
  'lru-cache',
  'ocache',
]
const columns = [
  { id: 'minified', title: 'minified, kB', digits: 1 },
  { id: 'gzip', title: 'gzip, kB', digits: 1 },
  { id: 'brotli', title: 'brotli, kB', digits: 1 },
]
// A user has these anyway; they are not what a cache adds.
const EXTERNAL = ['express', 'fastify', 'redis', 'ioredis', 'iovalkey', 'knex', 'kysely']
const STARTS = {
  'Node alone': '',
  express: "await import('express')",
  'core + express': "await Promise.all([import('express'), import('@cattlegrid/core'), import('@cattlegrid/express')])",
  fastify: "await import('fastify')",
  'core + fastify': "await Promise.all([import('fastify'), import('@cattlegrid/core'), import('@cattlegrid/fastify')])",
}

await runBench('size', measureSizes)

async function measureSizes(options: BenchOptions): Promise<Findings> {
  const rows = [await sizeRow(CORE, 'ours')]
  for (const name of BESIDE_CORE) rows.push({ ...(await sizeRow(name, 'ours', [CORE])), name: `${name}, without core` })
  for (const name of PEERS) rows.push(await sizeRow(name, 'peer'))
  const core = rows[0]?.cells['brotli']
  const weighed = WEIGHED.map((one) => ({
    ...one,
    sources: one.packages.map((name) => ({ name, lines: sourceLines(name) })),
  }))
  const totals = weighed.map(({ sources }) => sumOf(sources.map(({ lines }) => lines)))
  return {
    tables: [
      { id: 'size', title: 'Everything that the package exports, bundled with its dependencies', columns, rows },
      { id: 'core', title: 'What core is made of, each part by itself', columns, rows: await partsOfCore() },
      { id: 'core-code', title: 'What is in its own code, each part by itself', columns, rows: await partsOfCode() },
      await startTable(options),
      ...weighed.map(({ id, title, sources }, index) => ({
        id,
        title: `Lines of source of ${title}, what a program writes left out`,
        columns: lineColumns,
        rows: [
          ...sources.map(({ name, lines }) => lineRow(name, lines)),
          lineRow('together', totals[index] ?? sumOf([])),
        ],
      })),
    ],
    targets: [
      { what: 'Core with its dependencies, brotli', op: '<=', wanted: MOST_CORE / 1000, got: Number(core), unit: 'kB' },
      ...weighed.map(({ title, most }, index) => ({
        what: `Lines of source of ${title}`,
        op: '<=' as const,
        wanted: most,
        got: totals[index]?.lines ?? 0,
        unit: '',
      })),
    ],
  }
}

async function partsOfCore(): Promise<Row[]> {
  const others = Object.keys(manifest.dependencies)
  const own = { ...(await sizeRow(CORE, 'ours', others)), name: 'its own code' }
  return [own, ...(await Promise.all(others.map((name) => sizeRow(name, 'peer'))))]
}

/** Each module minified by itself, and those of a part compressed together. */
async function partsOfCode(): Promise<Row[]> {
  const home = dirname(fileURLToPath(import.meta.resolve(CORE)))
  const modules = readdirSync(home, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.js'))
  const partOf = (path: string): string =>
    Object.keys(PARTS).find((part) => PARTS[part]?.test(path.replaceAll('\\', '/')) === true) ?? ''
  return await Promise.all(
    Object.keys(PARTS).map(async (name): Promise<Row> => {
      const entryPoints = modules.filter((path) => partOf(path) === name).map((path) => join(home, path))
      const { outputFiles } = await build({ entryPoints, minify: true, write: false, target: 'node20', outdir: home })
      return { name, is: 'ours', cells: weigh(Buffer.concat(outputFiles.map(({ contents }) => contents))) }
    }),
  )
}

/** `apart`: dependencies that do not count. */
async function sizeRow(name: string, is: Row['is'], apart: readonly string[] = []): Promise<Row> {
  const { outputFiles } = await build({
    stdin: { contents: `export * from '${name}'`, resolveDir: FOLDER },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: [...EXTERNAL, ...apart],
    logLevel: 'error',
  })
  return { name, is, cells: weigh(outputFiles[0]?.contents ?? new Uint8Array()) }
}

/** In kB. */
function weigh(bytes: Uint8Array): Row['cells'] {
  return {
    minified: bytes.length / 1000,
    gzip: gzipSync(bytes, { level: 9 }).length / 1000,
    brotli: brotliCompressSync(bytes).length / 1000,
  }
}

async function startTable(options: BenchOptions): Promise<Table> {
  const contenders = Object.entries(STARTS).map(([name, code]) => ({
    name,
    measure: async () => ({ ms: start(code) }),
  }))
  const seen = await interleave(contenders, options.smoke ? 1 : Math.max(options.rounds, 15))
  return {
    id: 'start',
    title: 'Time to import, in a process of its own',
    columns: [{ id: 'ms', title: 'ms', digits: 0 }],
    rows: Object.keys(STARTS).map((name) => ({
      name,
      is: name.startsWith('core') ? 'ours' : 'floor',
      cells: { ms: figureOf(seen, name, 'ms') },
    })),
  }
}

/** By the clock of the process itself, from its birth to the end of the imports. */
function start(code: string): number {
  const script = `${code}; process.stdout.write(String(performance.now()))`
  return Number(
    execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd: FOLDER, encoding: 'utf8' }),
  )
}
