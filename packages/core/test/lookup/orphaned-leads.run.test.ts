import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { bundled } from '../../../../test/support/bundled.ts'

const MEMBER = bundled(resolve(import.meta.dirname, 'orphan-member.ts'))

describe('a lead that nobody refers to any more', () => {
  it('is handed over long before its hold ends, with one warning, while one that is held stays', async () => {
    const played = await promisify(execFile)(process.execPath, ['--expose-gc', MEMBER], { timeout: 60_000 })
    expect(JSON.parse(played.stdout)).toEqual({
      lost: ['lead', 'lead'],
      next: ['lead', 'lead'],
      beside: 'nobody',
      warnings: ['CATTLEGRID_CLAIM_LOST'],
    })
  }, 70_000)
})
