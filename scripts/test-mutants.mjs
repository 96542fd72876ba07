// Mutation testing, by hand: changes the code of the named files in every way that Stryker knows, one at a time, and wants a test of their
// package to turn red: a unit test, for `redis` also one that needs a server. Takes seconds for each change; what survives is code that no
// test needs.
//
//   npm test -- mutants packages/core/src/policy/freshness.ts [file …]
import { Stryker } from '@stryker-mutator/core'
import { resolve } from 'node:path'
import { startRedis } from '../packages/testkit/src/redis-server.ts'
import config from '../jest.config.ts'

const files = process.argv.slice(2)
const packages = new Set(files.map((file) => /^packages\/([^/]+)\/src\/.+\.ts$/.exec(file)?.[1]))
if (files.length === 0 || packages.has(undefined)) throw new Error('name files of packages/*/src')

/** The Redis for the tests that need one, as in a test run. */
const redis = packages.has('redis') ? await startRedis() : undefined
if (redis !== undefined) process.env['CATTLEGRID_TEST_REDIS_URL'] = redis.url

const unit = config.projects.find((project) => project.displayName === 'unit')

/** The tests of these packages, each run of which ends with the first red one. */
const jest = {
  ...unit,
  // Tests that start servers or programs of their own take too long for every change.
  testPathIgnorePatterns: [
    '/node_modules/',
    '/(?:versions|faults|rights)[^/]*\\.int\\.test\\.ts$',
    '\\.run\\.test\\.ts$',
  ],
  testMatch: [...packages].map((name) => `<rootDir>/packages/${name}/test/**/*.test.ts`),
  // Time is moved by hand in most unit tests: one that waits at all waits for ever.
  testTimeout: 5_000,
  testEnvironment: resolve(import.meta.dirname, 'mutants/environment.cjs'),
  runner: resolve(import.meta.dirname, 'mutants/runner.cjs'),
}

await new Stryker({
  mutate: files,
  testRunner: 'jest',
  plugins: ['@stryker-mutator/jest-runner'],
  jest: { projectType: 'custom', config: jest },
  // A first run notes which test reaches which line: a change is shown to those tests only.
  coverageAnalysis: 'perTest',
  // Stryker reads tsconfig files with a part of TypeScript that version 7 does not have; it leaves alone what is not there.
  tsconfigFile: 'none.json',
  // Not copied. Stryker takes no jest.config.ts, and would find this one.
  ignorePatterns: ['/jest.config.ts', '/bench', '/docs', '/examples', 'dist'],
  concurrency: 2,
  timeoutMS: 10_000,
  cleanTempDir: 'always',
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, reportTests: false },
}).runMutationTest()
await redis?.stop()
