import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { type Cache, createCache, memoryStore } from '@cattlegrid/core'
import { logEvents } from '@cattlegrid/metrics/logs'
import { openTelemetryMetrics } from '@cattlegrid/metrics/opentelemetry'
import { prometheusMetrics } from '@cattlegrid/metrics/prometheus'
import { createManualRuntime } from '@cattlegrid/testkit'
import { Registry } from 'prom-client'
import { cattlegrid } from '../../packages/cli/test/support/cli.ts'
import { describeMisuses, type Misuse, refused, warned } from './misuse.ts'

const cache = (): Cache => createCache({ name: 'shop', ttl: '1m' })

describeMisuses('metrics, logs and the testkit', [
  refused('metrics are registered twice', /is 'shop'; accepted: each cache once, .*createCache\(\{ name \}\)/, () => {
    const register = new Registry()
    for (const used of [cache(), cache()]) prometheusMetrics(used, { register })
  }),
  refused('instruments are made twice', /'openTelemetryMetrics\.cache' is 'shop'; accepted: each cache once/, () => {
    const used = cache()
    for (let call = 0; call < 2; call += 1) openTelemetryMetrics(used)
  }),
  refused('metrics get a store', /is a store, .*accepted: a cache made by createCache\(\)/, () =>
    // @ts-expect-error the types refuse it
    prometheusMetrics(memoryStore()),
  ),
  refused('logs get no cache', /'logEvents\.cache' is .*accepted: a cache made by createCache\(\)/, () =>
    // @ts-expect-error the types refuse it
    logEvents(console, console),
  ),
  warned(
    'the manual runtime is used in production',
    'CATTLEGRID_MANUAL_RUNTIME',
    /its time stands still, so nothing that uses it expires.*Leave the option runtime out/,
    () => {
      const environment = process.env['NODE_ENV']
      process.env['NODE_ENV'] = 'production'
      for (let call = 0; call < 3; call += 1) createCache({ runtime: createManualRuntime() })
      process.env['NODE_ENV'] = environment
    },
  ),
])

/** A command line that is refused. */
function command(args: readonly string[], says: RegExp): Misuse {
  return refused(
    `cattlegrid ${args.join(' ')}`,
    says,
    async () => {
      const { code, err } = await cattlegrid(args)
      throw Object.assign(new Error(err), { code })
    },
    2 as unknown as string,
  )
}

describeMisuses('commands by the names of other tools', [
  command(['purge', 'user:7'], /'purge' is unknown \(did you mean 'delete' for keys, or 'tags' for tags\?\); accepted/),
  command(['del', 'user:7'], /'del' is unknown \(did you mean 'delete' for keys/),
  command(['get', 'user:7'], /'get' is unknown \(did you mean 'inspect'\?\)/),
  command(['invalidate-tags', 'users'], /'invalidate-tags' is unknown \(did you mean 'tags'\?\)/),
  command(['stats'], /'stats' is unknown \(did you mean 'top'/),
  command(['monitor'], /'monitor' is unknown \(did you mean 'watch'\?\)/),
])

/** Runs a program as it is built and packed; throws what it says. */
function program(source: string, type: 'commonjs' | 'module'): () => void {
  return () => {
    const args = [`--input-type=${type}`, '--eval', source]
    execFileSync(process.execPath, args, { cwd: resolve(__dirname, '../..'), encoding: 'utf8', stdio: 'pipe' })
  }
}

/** What Node itself says, where the program starts. */
describeMisuses('the habits of other module systems', [
  refused(
    'require().default',
    /require\(.*\)\.default is not a function/,
    program("require('@cattlegrid/express').default()", 'commonjs'),
    '',
  ),
  refused(
    'the module is called',
    /require\(.*\) is not a function/,
    program("require('@cattlegrid/express')()", 'commonjs'),
    '',
  ),
  refused(
    'a default import',
    /does not provide an export named 'default'/,
    program("import core from '@cattlegrid/core'", 'module'),
    '',
  ),
  refused(
    'a private path',
    /Package subpath '.\/dist\/cjs\/errors\.js' is not defined by "exports"/,
    program("require('@cattlegrid/core/dist/cjs/errors.js')", 'commonjs'),
    '',
  ),
])
