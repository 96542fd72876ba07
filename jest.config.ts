/** @jest-config-loader esbuild-register */
import type { Config } from 'jest'

type Project = Exclude<NonNullable<Config['projects']>[number], string>

/** A transform for files whose decorators are of this proposal. */
function compiled(decorators: object): [path: string, options: Record<string, unknown>] {
  const jsc = { target: 'es2022', parser: { syntax: 'typescript', decorators: true }, transform: decorators }
  return ['@swc/jest', { jsc, module: { type: 'commonjs' } }]
}

const shared: Project = {
  testEnvironment: '<rootDir>/test/environment.ts',
  transform: {
    // NestJS knows the older proposal only.
    '/packages/nestjs/test/.*\\.ts$': compiled({ legacyDecorator: true, decoratorMetadata: true }),
    '\\.[cm]?[jt]s$': compiled({ decoratorVersion: '2023-11' }),
  },
  // Fastify's `inject` requires cookie@2, which is ESM only, and @fastify/cookie imports it; @fastify/static requires one more, express-openid-connect requires three. Jest on Node < 24.9 can do neither.
  transformIgnorePatterns: [
    '/node_modules/(?!(?:.*/node_modules/)?(?:(?:@fastify/)?cookie|content-disposition|h3|jose|oauth4webapi|openid-client|rou3|srvx)/)',
  ],
  moduleNameMapper: {
    '^@cattlegrid/core/decorator$': '<rootDir>/packages/core/src/decorator/index.ts',
    '^@cattlegrid/core/extend$': '<rootDir>/packages/core/src/extend.ts',
    '^@cattlegrid/redis/admin$': '<rootDir>/packages/redis/src/redis-admin.ts',
    '^@cattlegrid/metrics/(prometheus|opentelemetry|logs)$': '<rootDir>/packages/metrics/src/$1/index.ts',
    '^@cattlegrid/express/exchange$': '<rootDir>/packages/express/src/express-request.ts',
    '^@cattlegrid/http/binding$': '<rootDir>/packages/http/src/binding.ts',
    '^@cattlegrid/web/(astro|h3|hono|sveltekit)$': '<rootDir>/packages/web/src/$1.ts',
    '^@cattlegrid/fastify/handler-exchanges$': '<rootDir>/packages/fastify/src/handler-exchanges.ts',
    '^@cattlegrid/(core|explain|redis|http|express|fastify|nestjs|next|web|testkit)$':
      '<rootDir>/packages/$1/src/index.ts',
  },
}

const config: Config = {
  projects: [
    {
      ...shared,
      displayName: 'unit',
      testMatch: ['<rootDir>/{packages,examples}/*/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '\\.(?:int|run|browser)\\.test\\.ts$'],
    },
    {
      ...shared,
      displayName: 'integration',
      testMatch: ['<rootDir>/{packages,examples}/*/test/**/*.int.test.ts'],
      globalSetup: '<rootDir>/test/redis-setup.ts',
      globalTeardown: '<rootDir>/test/redis-teardown.ts',
    },
    {
      ...shared,
      displayName: 'repository',
      // Of all packages together: real middleware in every order, attacks, random apps, the documents, the rules of the house.
      testMatch: ['<rootDir>/test/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '\\.(?:run|browser)\\.test\\.ts$', '<rootDir>/test/faults/'],
      globalSetup: '<rootDir>/test/redis-setup.ts',
      globalTeardown: '<rootDir>/test/redis-teardown.ts',
    },
    {
      ...shared,
      displayName: 'faults',
      // Also what takes as long as a server that dies: a cluster, Sentinel, each version of the client, the examples as whole programs.
      testMatch: [
        '<rootDir>/test/faults/**/*.test.ts',
        '<rootDir>/{packages/*/test,examples/*/test,test}/**/*.run.test.ts',
      ],
      globalSetup: '<rootDir>/test/redis-setup.ts',
      globalTeardown: '<rootDir>/test/redis-teardown.ts',
    },
    {
      ...shared,
      displayName: 'browser',
      // The page of the demo, and the site as it was built: docs/dist.
      testMatch: ['<rootDir>/examples/*/test/**/*.browser.test.ts', '<rootDir>/test/site/*.browser.test.ts'],
    },
  ],
  // Most tests wait for a server: with one worker for each core, less one, two cores would be half idle.
  maxWorkers: 2,
  // Real servers on a machine that is busy with something else: a test that hangs is still ended.
  testTimeout: 180_000,
  collectCoverageFrom: ['packages/*/src/**/*.ts'],
}
export default config
