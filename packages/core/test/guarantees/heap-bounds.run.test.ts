import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { bundled } from '../../../../test/support/bundled.ts'

const MEMBER = bundled(resolve(import.meta.dirname, 'heap-member.ts'))

/** The share of `maxBytes` that a full cache holds in a process of its own. */
async function shareHeld(shape: string, where: string): Promise<number> {
  const args = ['--expose-gc', MEMBER, shape, where]
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 120_000 })
  return Number(stdout)
}

describe.each(['memory', 'near'])('a full cache (%s)', (where) => {
  it.each([
    'tiny values',
    'small objects',
    'strings',
    'strings of two bytes a character',
    'lists of small objects',
    'long lists',
    'dictionaries',
    'Maps',
    'Buffers',
    'small views of large Buffers',
  ])(
    'of %s holds no more than 1.3 times its maxBytes, and uses a good part of them',
    async (shape) => {
      const share = await shareHeld(shape, where)
      expect(share).toBeLessThan(1.3)
      expect(share).toBeGreaterThan(0.4)
    },
    130_000,
  )
})
