import { describe, expect, it } from '@jest/globals'
import { type ChaosReport, runChaos } from './chaos.ts'

const url = (): string => process.env['CATTLEGRID_TEST_REDIS_URL'] ?? ''

function show(lock: string, { invalidations, staleReads, reads, pauses, kills }: ChaosReport): void {
  process.stderr.write(
    `chaos, ${lock}: ${staleReads} stale after ${invalidations} acknowledged invalidations (${reads} reads, ${pauses} pauses, ${kills} kills)\n`,
  )
}

describe('under processes that are stopped past their leases and killed', () => {
  it('no read finds an older value once an invalidation was acknowledged', async () => {
    const report = await runChaos('leases', 2400, url())
    show('token leases', report)
    expect(report.staleReads).toBe(0)
    expect(report.invalidations).toBeGreaterThanOrEqual(2400)
    // The run was one: values were there to be found, and the processes were in trouble.
    expect(report.reads).toBeGreaterThan(100)
    expect(report.pauses).toBeGreaterThan(3)
  }, 180_000)

  it('the same check finds a plain token lock out a hundred times over', async () => {
    const report = await runChaos('naive', 2400, url())
    show('plain token lock', report)
    expect(report.staleReads).toBeGreaterThan(100)
  }, 180_000)
})
