import { strict as assert } from 'node:assert'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createCache } from '@cattlegrid/core'
import { redisStore } from '@cattlegrid/redis'

/** The command, as the package names it: reads the entry of an application, and deletes it. */
export async function check(): Promise<void> {
  const namespace = `installed-cli-${process.pid}`
  const store = redisStore({ url: process.env['REDIS_URL'] ?? '', namespace })
  const cache = createCache({ ttl: '30s', storeTimeout: '5s', store })
  try {
    await cache.set('product:7', 'stored')
    assert.match(await cattlegrid('inspect', 'product:7', '--namespace', namespace), /product:7/)
    await cattlegrid('delete', 'product:7', '--namespace', namespace)
    assert.equal(await cache.get('product:7'), undefined)
  } finally {
    await cache.close()
  }
}

async function cattlegrid(...args: string[]): Promise<string> {
  const manifest = createRequire(join(process.cwd(), 'main.js')).resolve('@cattlegrid/cli/package.json')
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: { cattlegrid: string } }
  const program = join(dirname(manifest), bin.cattlegrid)
  // The machine may be busy.
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args, '--timeout', '30s'])
  return stdout
}
