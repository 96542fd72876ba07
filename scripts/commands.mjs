// What the scripts of package.json offer that have names behind `--`: `npm run bench -- hit`.

/**
 * @typedef {object} Command
 * @property {string} says what it does
 * @property {readonly (readonly string[])[]} first the commands that run before it
 * @property {(given: readonly string[]) => readonly string[]} line its own command, with the arguments given behind its name
 * @property {Readonly<Record<string, string>>} [env] added to the environment
 */

const build = ['npm', 'run', 'build', '--silent']
const site = ['npm', 'run', 'build', '--workspace', 'docs', '--silent']
const benches = ['tsc', '-p', 'bench']

/** Needs no build. @returns {Command} */
const plain = (says, ...line) => ({ says, first: [], line: (given) => [...line, ...given] })
/** Runs on the built packages. @returns {Command} */
const built = (says, ...line) => ({ ...plain(says, ...line), first: [build] })
/** A program in TypeScript that runs on the built packages. @returns {Command} */
const program = (says, file, ...options) =>
  built(says, 'node', ...options, '--import', '@cattlegrid/run-typescript', file)
/** A compiled bench. @returns {Command} */
const bench = (says, name) => ({ ...plain(says, 'node', `bench/dist/${name}.js`), first: [build, benches] })
/** Tests of these projects; paths that are given stand before the options, else jest takes them for projects. @returns {Command} */
const jest = (says, projects, ...options) => ({
  says,
  first: [build],
  line: (given) => ['jest', ...given, ...options, '--selectProjects', ...projects],
})

/** By script, then by name. The one without a name runs when none is given. @type {Record<string, Record<string, Command>>} */
export const commands = {
  test: {
    '': jest('the tests of the packages and examples', ['unit', 'integration']),
    unit: jest('those that need no Redis', ['unit']),
    repository: jest('the packages together, attacks, the documents, the rules of the house', ['repository']),
    faults: jest('faults of real servers and processes: some minutes', ['faults'], '--runInBand'),
    browser: { ...jest('the page of the demo, and the site, in Chromium', ['browser']), first: [build, site] },
    node: plain('VERSION: the unit tests on Node 22, 24 or 26', 'node', 'scripts/test-on-node.mjs'),
    server: plain('NAME: tests on redis-8, valkey-8 or valkey-9', 'node', 'scripts/test-on-server.mjs'),
    guards: plain('removes each guard: its test must turn red', 'node', 'scripts/test-guards.mjs'),
    mutants: plain(
      'FILE: changes a file in many ways: a unit test must turn red',
      'node',
      '--import',
      '@cattlegrid/run-typescript',
      'scripts/test-mutants.mjs',
    ),
    fuzz: program('random apps with the cache and without it', 'test/fuzz/run.ts', '--no-warnings'),
    matrix: program('every fault under load, as a table', 'test/matrix/run.ts'),
    soak: program('heap and maps under load', 'test/soak/run.ts', '--expose-gc'),
    'silent-node': program('one of three masters stops under load', 'test/faults/silent-node-run.ts'),
    'near-push': program('how long an invalidation takes to a near cache', 'test/faults/near-push-run.ts'),
  },
  check: {
    house: plain('the rules of CONTRIBUTING.md that a script can check', 'node', 'scripts/check-house.mjs'),
    format: plain('prettier', 'prettier', '--check', '.'),
    unused: plain('no unused file, export or dependency', 'knip'),
    packages: built('the packed packages: manifests, types, both module systems', 'node', 'scripts/check-packages.mjs'),
    installs: built('the packed packages, as users install them', 'node', 'scripts/check-installs.mjs'),
    clients: built('the packed packages beside each client of Redis', 'node', 'scripts/check-clients.mjs'),
  },
  bench: {
    build: built('compiles the benches', ...benches),
    hit: bench('a hit in process', 'hit'),
    miss: bench('a miss, in process and in Redis', 'miss'),
    redis: bench('a hit in Redis', 'redis'),
    stampede: bench('loads, waiting and commands in a stampede', 'stampede'),
    overload: bench('a cold fleet before a source that slows down', 'overload'),
    http: bench('hits and refreshes over HTTP', 'http'),
    nodes: bench('a hit and a refresh over HTTP on several versions of Node', 'nodes'),
    start: bench('the first requests of a process', 'start'),
    memory: bench('heap per entry and per load', 'memory'),
    size: bench('compressed sizes, and the time of imports', 'size'),
    curves: bench('cost as work grows', 'curves'),
    purge: bench('a purge of 100,000 entries under load', 'purge'),
    burst: bench('2,000 reads at once, near and far', 'burst'),
    notices: bench('the notices that 100 processes hear', 'notices'),
    road: bench('the files that one call enters', 'road'),
    profile: bench('where the time of a hit and of a refresh goes', 'profile'),
    versus: bench('FOLDER: this checkout against another one', 'versus'),
    migrations: {
      ...built(
        'the queries of a herd, before and after each migration',
        'node',
        '--import',
        'tsx',
        'examples/migrations/src/measure.ts',
      ),
      env: { TSX_TSCONFIG_PATH: 'examples/migrations/tsconfig.json' },
    },
  },
  docs: {
    '': plain('fills the generated tables, and draws the plots', 'node', 'scripts/docs/generate.mjs'),
    build: plain('the site, whose dead links end the build', 'npm', 'run', 'build', '--workspace', 'docs'),
    site: plain('a server of the site that shows changes at once', 'npm', 'run', 'site', '--workspace', 'docs'),
  },
  demo: {
    '': program('the stampede that does not happen', 'examples/product-api/src/demo.ts'),
    record: program('records the picture of the README', 'examples/product-api/src/record.ts'),
  },
  release: {
    '': {
      ...plain('checks the packages, and publishes them', 'node', 'scripts/release.mjs'),
      first: [['npm', 'run', 'check', '--silent', '--', 'packages']],
    },
    version: plain('sets the version that the changesets ask for', 'node', 'scripts/release-version.mjs'),
  },
}
