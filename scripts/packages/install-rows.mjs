// The projects of check-installs.mjs, one a row. Each package manager, kind of module, test runner and runtime stands in a row at least, and each package in several.

/** What an app of `installed/` needs: packages of this repository, and others at the version of the workspace. */
export const apps = {
  express: { own: ['core', 'express'], peers: ['express'] },
  fastify: { own: ['core', 'fastify'], peers: ['fastify'] },
  nestjs: {
    own: ['core', 'nestjs'],
    peers: ['@nestjs/common', '@nestjs/core', '@nestjs/platform-express', 'reflect-metadata', 'rxjs'],
  },
  web: { own: ['core', 'web'], peers: [] },
  hono: { own: ['core', 'web'], peers: ['hono'] },
  h3: { own: ['core', 'web'], peers: ['h3'] },
  sveltekit: { own: ['core', 'web'], peers: [] },
  astro: { own: ['core', 'web'], peers: [] },
  redis: { own: ['core', 'redis'], peers: ['redis'] },
  cli: { own: ['core', 'redis', 'cli'], peers: ['redis'] },
  explain: { own: ['core', 'explain'], peers: [] },
  metrics: { own: ['core', 'metrics'], peers: ['prom-client'] },
  testkit: { own: ['core', 'testkit'], peers: [] },
}

/** h3 is an ES module alone, which neither jest nor an old compiler requires. */
const all = Object.keys(apps).filter((app) => app !== 'h3')

/** The oldest versions that the packages declare. */
const oldest = {
  express: '4.18.0',
  fastify: '5.0.0',
  '@nestjs/common': '11.0.0',
  '@nestjs/core': '11.0.0',
  '@nestjs/platform-express': '11.0.0',
  'reflect-metadata': '0.1.12',
  rxjs: '7.1.0',
  hono: '4.8.0',
  redis: '5.1.0',
  'prom-client': '15.0.0',
}
const nest12 = { '@nestjs/common': '12', '@nestjs/core': '12', '@nestjs/platform-express': '12' }

/**
 * `manager` installs, `module` is `esm` or `cjs`, `compiler` a version of TypeScript that compiles the sources as they stand; without one, esbuild
 * takes their types away. `tarballs` names files, as one must until the packages are on npm; else the packages are installed by name.
 */
export const rows = [
  {
    manager: 'npm',
    tarballs: true,
    module: 'esm',
    runner: 'script',
    runtime: 'node 20',
    apps: ['express', 'fastify', 'nestjs', 'web', 'hono', 'h3'],
  },
  {
    manager: 'npm',
    module: 'cjs',
    runner: 'script',
    runtime: 'node 20',
    apps: all,
    versions: oldest,
    note: 'oldest peers',
  },
  {
    manager: 'npm',
    module: 'esm',
    runner: 'script',
    runtime: 'node 26',
    apps: all,
    versions: nest12,
    note: 'NestJS 12',
  },
  { manager: 'npm', module: 'cjs', compiler: '5.4.5', runner: 'script', runtime: 'node 22', apps: all },
  { manager: 'npm', module: 'esm', compiler: '7.0.2', runner: 'script', runtime: 'node 24', apps: all },
  { manager: 'npm', module: 'cjs', runner: 'jest', runtime: 'node 20', apps: all },
  { manager: 'npm', module: 'esm', runner: 'vitest', runtime: 'node 24', apps: ['express', 'fastify', 'testkit'] },
  { manager: 'npm', module: 'esm', runner: 'node:test', runtime: 'node 26', apps: ['express', 'fastify', 'testkit'] },
  { manager: 'pnpm', module: 'esm', runner: 'script', runtime: 'node 22', apps: all },
  { manager: 'yarn 1', module: 'cjs', runner: 'script', runtime: 'node 24', apps: ['express', 'redis', 'nestjs'] },
  {
    manager: 'yarn 4',
    module: 'cjs',
    runner: 'script',
    runtime: 'node 22',
    // Under Plug'n'Play, Node finds no program that is an ES module in a project of CommonJS.
    apps: all.filter((app) => app !== 'cli'),
    note: "Plug'n'Play",
  },
  {
    manager: 'npm',
    module: 'esm',
    runner: 'script',
    runtime: 'bun',
    apps: ['express', 'fastify', 'web', 'hono', 'h3', 'redis'],
  },
  {
    manager: 'npm',
    module: 'esm',
    runner: 'script',
    runtime: 'deno',
    apps: ['express', 'fastify', 'web', 'hono', 'h3', 'redis'],
  },
]

/** The row as a line of the table. */
export function lineOf({ manager, tarballs, module, compiler, runner, runtime, apps: used, note }) {
  const packages = used.length === all.length ? 'all' : used.join(' ')
  return [
    `${manager}${tarballs ? ', tarballs' : ''}`.padEnd(13),
    `${module}${compiler === undefined ? '' : ` TypeScript ${compiler}`}`.padEnd(20),
    runner.padEnd(9),
    runtime.padEnd(7),
    `${packages}${note === undefined ? '' : ` (${note})`}`.padEnd(28),
  ].join('  ')
}
