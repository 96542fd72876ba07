import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, it } from '@jest/globals'
import { bundled } from '../../../../test/support/bundled.ts'
import { redisUrl } from '../../../../test/support/redis-under-test.ts'

const member = bundled(resolve(import.meta.dirname, 'kept-hits-member.ts'))
const FLAGS = ['--expose-gc', '--single-threaded-gc']
/** A small heap is full from the start: V8 then allocates among the old objects more of what it finds alive at its first collections. */
const SMALL_HEAP = ['--min-semi-space-size=1', '--max-semi-space-size=1']

const namespace = randomUUID()

async function keptPerHit(flags: readonly string[]): Promise<number> {
  const args = [...FLAGS, ...flags, member, redisUrl(), namespace]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 })
  return Number(stdout)
}

// Fills the keys: a process that has loaded none of them is the one that kept most.
beforeAll(() => keptPerHit([]))

it.each([
  ['a heap of the usual size', []],
  ['a small heap', SMALL_HEAP],
])('a minor garbage collection of %s frees a hit, also after a burst of hits', async (_, flags) => {
  expect(await keptPerHit(flags)).toBeLessThan(800)
})
